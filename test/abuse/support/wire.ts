import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface WireResponse {
  status: number
  head: string
  body: string
}

/** One connection to a server, on which bytes are sent as they are and answers read as HTTP/1.1. */
export interface Wire {
  readonly isOpen: boolean
  write(bytes: Buffer): void
  /** The next answer; null when the server closed the connection instead, `silent` when there was neither in time. */
  receive(options: { withoutBody: boolean; withinMs: number }): Promise<WireResponse | null | 'silent'>
  /** Goes away without a word. */
  drop(): void
}

export async function openWire(port: number): Promise<Wire> {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let buffer: Buffer = Buffer.alloc(0)
  let isOpen = true
  let news = () => {}
  socket.on('data', (chunk: Buffer) => {
    buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk])
    news()
  })
  const end = () => {
    isOpen = false
    news()
  }
  socket.on('close', end).on('end', end)
  await once(socket, 'connect')
  // A server that refuses closes while more is sent to it.
  socket.on('error', end)

  return {
    get isOpen() {
      return isOpen && socket.writable
    },
    write(bytes) {
      if (socket.writable) socket.write(bytes)
    },
    async receive({ withoutBody, withinMs }) {
      let tooLate = false
      const timer = setTimeout(() => {
        tooLate = true
        news()
      }, withinMs)
      try {
        for (;;) {
          const found = take(buffer, withoutBody, !isOpen)
          if (found) {
            buffer = buffer.subarray(found.end)
            if (found.response.status >= 200 || found.response.status === 101) return found.response
            continue
          }
          if (!isOpen) return null
          if (tooLate) return 'silent'
          await new Promise<void>((resolve) => {
            news = resolve
          })
        }
      } finally {
        clearTimeout(timer)
      }
    },
    drop() {
      isOpen = false
      socket.destroy()
    },
  }
}

function take(
  buffer: Buffer,
  withoutBody: boolean,
  isClosed: boolean,
): { response: WireResponse; end: number } | null {
  const headEnd = buffer.indexOf('\r\n\r\n')
  if (headEnd < 0) return null
  const head = buffer.toString('latin1', 0, headEnd)
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? Number.NaN)
  if (Number.isNaN(status)) throw new Error(`an answer begins with ${JSON.stringify(head.slice(0, 400))}`)
  const start = headEnd + 4
  const whole = (end: number, body: string) => ({ response: { status, head, body }, end })
  if (withoutBody || status < 200 || status === 204 || status === 304) return whole(start, '')
  const length = /\r\ncontent-length: (\d+)/i.exec(head)
  if (length) {
    const end = start + Number(length[1])
    return buffer.length < end ? null : whole(end, buffer.toString('utf8', start, end))
  }
  if (!/\r\ntransfer-encoding: chunked/i.test(head))
    return isClosed ? whole(buffer.length, buffer.toString('utf8', start)) : null
  const pieces: Buffer[] = []
  for (let at = start; ; ) {
    const lineEnd = buffer.indexOf('\r\n', at)
    if (lineEnd < 0) return null
    const size = Number.parseInt(buffer.toString('latin1', at, lineEnd), 16)
    const next = lineEnd + 2 + size + 2
    if (buffer.length < next) return null
    if (size === 0) return whole(next, Buffer.concat(pieces).toString('utf8'))
    pieces.push(buffer.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = next
  }
}
