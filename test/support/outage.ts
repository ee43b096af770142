import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** An address that can be cut off from the server behind it, and put in front of another one. */
export interface Line extends AsyncDisposable {
  url: string
  /** Cuts every connection and refuses new ones. */
  cut(): void
  /** Leads to the server at this address from now on. */
  lead(url: string): void
}

export async function openLine(url: string): Promise<Line> {
  let target: URL | null = new URL(url)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    if (!target) return socket.destroy()
    const there = connect(Number(target.port), target.hostname)
    for (const each of [socket, there]) {
      sockets.add(each)
      each.on('error', () => {})
      each.on('close', () => sockets.delete(each))
    }
    socket.pipe(there).pipe(socket)
    socket.on('close', () => there.destroy())
    there.on('close', () => socket.destroy())
    return undefined
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const cut = () => {
    target = null
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${port}`,
    cut,
    lead(next) {
      target = new URL(next)
    },
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
    },
  }
}
