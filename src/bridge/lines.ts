import type { Readable, Writable } from 'node:stream'

const lineFeed = 10

export class LineTooLong extends Error {}

/** The lines of a stream as they are, without their line feeds. What stands behind the last one is a line too. */
export async function* linesOf(stream: Readable, bytesMax: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
      parts.push(chunk.subarray(from, at))
      yield Buffer.concat(parts)
      parts = []
      size = 0
      from = at + 1
    }
    if (from === chunk.length) continue
    parts.push(chunk.subarray(from))
    size += chunk.length - from
    if (size > bytesMax) throw new LineTooLong(`a line is longer than ${bytesMax / 1024 / 1024} MiB`)
  }
  if (size > 0) yield Buffer.concat(parts)
}

/** Writes whole lines. Whoever has many waits for `settled` between them. */
export interface LineWriter {
  write(line: Buffer | string): void
  settled(): Promise<void>
}

export function lineWriter(stream: Writable): LineWriter {
  let full: Promise<void> | null = null
  // A reader that is gone is noticed where its own stream ends.
  stream.on('error', () => {})
  return {
    write(line) {
      if (!stream.writable) return
      const bytes = typeof line === 'string' ? Buffer.from(line) : line
      // In one write: a signal between the two must not leave half a message.
      if (!stream.write(Buffer.concat([bytes, Buffer.from('\n')])))
        full ??= roomAgain(stream).then(() => {
          full = null
        })
    },
    async settled() {
      await full
    },
  }
}

/** Takes its listeners back, as there is one wait for every line that is too much at once. */
function roomAgain(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    function settle(): void {
      stream.off('drain', settle).off('close', settle)
      resolve()
    }
    stream.on('drain', settle).on('close', settle)
  })
}
