import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { buildSchema, parse, validate } from 'graphql'
import { expect } from 'vitest'
import { adminKey, startServer } from '../../support/server.ts'
import { type Block, blocksOf, readPage, root } from './markdown.ts'
import { curlRequest, parseCommands } from './shell.ts'
import { createShown } from './shown.ts'

/** The address that the pages show. */
const shownUrl = 'http://127.0.0.1:4010'
const patienceMs = 20_000

/**
 * Does what a page says, from its first block to its last, against a server of its own, and compares what comes with what the
 * page shows.
 *
 * - `sh`: curl, `node` with a program of the page, `wait` for what was started with `&`. `# 422` at its end is the status of
 *   the last answer; without one it is 200. `# an hour later` lets the time pass.
 * - `json` behind it: the last answer.
 * - `js` with a name in its first line: a program. `text`: what the last program has printed since.
 * - `graphql`: fits the schema; with `json` behind it, it is run.
 */
export async function runPage(name: string): Promise<void> {
  let aheadMs = 0
  await using server = await startServer({ now: () => new Date(Date.now() + aheadMs) })
  const shown = createShown([
    [shownUrl, server.url],
    [shownUrl.replace('http', 'ws'), server.url.replace('http', 'ws')],
  ])
  const schema = buildSchema(await readPage('schema.graphql'))
  const programs = new Map<string, string>()
  await using running = new AsyncDisposableStack()
  let background: Promise<Answer> | null = null
  let printed: Output | null = null
  let answer: Answer | null = null

  const blocks = blocksOf(await readPage(name))
  for (const [i, block] of blocks.entries()) {
    try {
      await run(block, blocks[i + 1])
    } catch (error) {
      if (error instanceof Error) error.message = `${name}:${block.line}: ${error.message}`
      throw error
    }
  }

  async function run(block: Block, next: Block | undefined): Promise<void> {
    switch (block.language) {
      case 'sh':
        return runShell(block)
      case 'json':
        if (!answer) throw new Error('an answer is shown, and nothing was asked')
        expect(seen(answer.body, block)).toEqual(JSON.parse(block.text))
        return
      case 'js': {
        const file = /^\/\/ (\S+\.mjs)\n/.exec(block.text)?.[1]
        if (file === undefined) throw new Error('a program begins with its name: // name.mjs')
        programs.set(file, block.text)
        return
      }
      case 'text': {
        const program = printed
        if (!program) throw new Error('output is shown, and no program was run')
        const fresh = () => shown.shown(program.text.slice(program.compared), block.text)
        await expect.poll(fresh, { timeout: patienceMs }).toBe(block.text)
        program.compared = program.text.length
        return
      }
      case 'graphql': {
        const errors = validate(schema, parse(block.text))
        if (errors.length > 0) throw new Error(errors.join('\n'))
        if (next?.language === 'json') answer = await send(graphqlRequest(block.text))
        return
      }
      default:
        throw new Error(`a block of ${block.language}, which nobody runs`)
    }
  }

  async function runShell({ text }: Block): Promise<void> {
    aheadMs += laterMs(text)
    answer = null
    for (const { words, background: aside } of parseCommands(shown.real(text), {
      HOLDPOINT_API_KEY: adminKey,
    })) {
      if (words[0] === 'curl') {
        const held = server.app.heldPolls()
        const sent = send(curlRequest(words))
        if (aside) {
          background = sent
          // What is started first is there first.
          await expect.poll(() => server.app.heldPolls(), { timeout: patienceMs }).toBeGreaterThan(held)
        } else answer = await sent
      } else if (words[0] === 'wait') answer = await background
      else if (words[0] === 'node') printed = start(words[1]!)
      else throw new Error(`a command that nobody runs: ${words[0]}`)
    }
    const status = Number(/^# (\d{3})$/m.exec(text)?.[1] ?? 200)
    if (answer) expect({ status: answer.status, body: answer.body }).toMatchObject({ status })
  }

  function start(file: string): Output {
    const program = programs.get(file)
    if (program === undefined) throw new Error(`there is no program ${file} before this`)
    const output = { text: '', compared: 0 }
    const child = spawn(process.execPath, ['--input-type=module', '-'], {
      cwd: root,
      env: { PATH: process.env.PATH, HOLDPOINT_API_KEY: adminKey },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    running.defer(() => end(child))
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output.text += chunk
      })
    child.stdin.end(shown.real(program))
    return output
  }

  function graphqlRequest(query: string) {
    return {
      url: `${server.url}/graphql`,
      method: 'POST',
      headers: { 'X-API-Key': adminKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: shown.real(query) }),
    }
  }

  function seen(body: unknown, block: Block): unknown {
    const canonical = (value: unknown) => JSON.stringify(value, null, 2)
    return JSON.parse(shown.shown(canonical(body), canonical(JSON.parse(block.text))))
  }
}

interface Output {
  text: string
  /** Up to where a page has shown it. */
  compared: number
}

interface Answer {
  status: number
  body: unknown
}

async function send({ url, ...request }: ReturnType<typeof curlRequest>): Promise<Answer> {
  const response = await fetch(url, request)
  const text = await response.text()
  return { status: response.status, body: text === '' ? null : JSON.parse(text) }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

function laterMs(text: string): number {
  const [, count, unit] = /^# (an|\d+) (minute|hour)s? later$/m.exec(text) ?? []
  if (count === undefined) return 0
  return (count === 'an' ? 1 : Number(count)) * (unit === 'hour' ? 60 : 1) * 60_000
}
