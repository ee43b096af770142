import { spawn } from 'node:child_process'
import { once } from 'node:events'

export type Line = Record<string, any>

/** What the server asks the client, and what this one answers; undefined for nothing. */
export type AnswerRequest = (method: string, params: Line) => unknown

export interface RawClient extends AsyncDisposable {
  /** Every line that came, but the server's requests, in the order in which it came. */
  received: Line[]
  /** The methods that the server asked for. */
  asked: string[]
  /** The reply, whether it is a result or an error. */
  call(method: string, params?: Line): Promise<Line>
  notify(method: string, params?: Line): void
}

/** An MCP client that reads and writes lines, and hides nothing of them as an SDK would. */
export function startRawClient(
  [command, ...args]: readonly [string, ...string[]],
  environment: Record<string, string>,
  answer: AnswerRequest,
): RawClient {
  const child = spawn(command, args, { env: environment, stdio: ['pipe', 'pipe', 'ignore'] })
  const received: Line[] = []
  const asked: string[] = []
  const waiting = new Map<number, (line: Line) => void>()
  let lastId = -1
  child.stdin.on('error', () => {})
  const send = (message: Line) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const exited = once(child, 'exit')
  function take(line: Line): void {
    if (line.method !== undefined && line.id !== undefined) {
      asked.push(line.method)
      const result = answer(line.method, line.params ?? {})
      if (result !== undefined) send({ id: line.id, result })
      return
    }
    received.push(line)
    waiting.get(line.id)?.(line)
    waiting.delete(line.id)
  }
  let rest = ''
  // Not by readline, which takes U+2028 for the end of a line.
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const texts = (rest + chunk).split('\n')
    rest = texts.pop()!
    for (const text of texts) take(JSON.parse(text))
  })
  return {
    received,
    asked,
    call(method, params = {}) {
      const id = ++lastId
      const reply = new Promise<Line>((resolve, reject) => {
        waiting.set(id, resolve)
        void exited.then(() => reject(new Error(`the server ended before it answered ${method}`)))
      })
      send({ id, method, params })
      return reply
    },
    notify: (method, params = {}) => send({ method, params }),
    async [Symbol.asyncDispose]() {
      // A server that does not end with its stdin ends with this.
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await exited
      clearTimeout(timer)
    },
  }
}
