import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { LineTooLong, linesOf, lineWriter } from '../../src/bridge/lines.ts'

async function linesIn(chunks: Buffer[], bytesMax = 100): Promise<string[]> {
  const lines: string[] = []
  for await (const line of linesOf(Readable.from(chunks), bytesMax)) lines.push(line.toString())
  return lines
}

describe('lines of a stream', () => {
  it('end at a line feed and nowhere else, however they are cut into chunks', async () => {
    const text = 'a\u2028b\rc\u{1f600}\n\nlast'
    const bytes = Buffer.from(text)
    for (let at = 0; at <= bytes.length; at++)
      expect(await linesIn([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(text.split('\n'))
  })

  it('are refused when one goes beyond the limit', async () => {
    await expect(linesIn([Buffer.alloc(60, 'x'), Buffer.alloc(60, 'x')])).rejects.toThrow(LineTooLong)
  })
})

describe('a writer of lines', () => {
  it('waits for a slow reader as often as it has to, and leaves nothing behind on the stream', async () => {
    const stream = new PassThrough({ highWaterMark: 1 })
    const writer = lineWriter(stream)
    const listeners = () => ['drain', 'close', 'error'].map((event) => stream.listenerCount(event))
    const before = listeners()
    for (let i = 0; i < 30; i++) {
      writer.write(`line ${i}`)
      const settled = writer.settled()
      expect(stream.read().toString()).toBe(`line ${i}\n`)
      await settled
    }
    expect(listeners()).toEqual(before)
  })

  it('is done with a reader that is gone', async () => {
    const stream = new PassThrough({ highWaterMark: 1 })
    const writer = lineWriter(stream)
    writer.write('nobody reads this')
    stream.destroy()
    await writer.settled()
    writer.write('nor this')
  })
})
