import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { receiverAnswerBytesMax, receiverDetailCharactersMax } from '../base/limits.ts'
import { redact } from '../base/redact.ts'
import { makeVisible, truncate } from '../base/text.ts'

/** A receiver has this long for its whole answer. */
const postTimeoutMs = 10_000

export interface PostOptions {
  headers: Record<string, string | number>
  body: string | Buffer
  /** Resolves the host's name; by default whatever the system says. */
  lookup?: LookupFunction
  /** Ends the attempt before its time. */
  signal?: AbortSignal
  timeoutMs?: number
}

/** What came of an attempt. `status` is null when there was no answer; `detail` is for people. */
export interface Posted {
  status: number | null
  detail: string
}

/**
 * One POST to an address that is not ours. Never rejects for what the receiver does: it may hang, close early, redirect
 * (which is an answer, and not followed) or answer without end, and costs a bounded time and amount of memory.
 */
export function post(url: URL, options: PostOptions): Promise<Posted> {
  const { headers, body, lookup, signal, timeoutMs = postTimeoutMs } = options
  return new Promise((resolve) => {
    const tooLate = AbortSignal.timeout(timeoutMs)
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    const request = (url.protocol === 'https:' ? https : http).request(url, {
      method: 'POST',
      headers: { 'User-Agent': 'Holdpoint', ...headers, 'Content-Length': length },
      lookup,
      // A connection of its own: one that is kept may be closed by the receiver just when it is used again.
      agent: false,
      signal: signal ? AbortSignal.any([tooLate, signal]) : tooLate,
    })
    let answered: (() => void) | null = null
    request.on('response', (response) => {
      const status = response.statusCode!
      const chunks: Buffer[] = []
      let size = 0
      // The status is the answer. Whatever happens to the body only changes how much of it is told.
      const done = () => {
        response.destroy()
        resolve({
          status,
          detail: describeAnswer(status, Buffer.concat(chunks).subarray(0, receiverAnswerBytesMax)),
        })
      }
      answered = done
      response.on('error', done)
      response.on('end', done)
      response.on('close', done)
      if (isSuccess(status)) return done()
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        size += chunk.length
        if (size >= receiverAnswerBytesMax) done()
      })
    })
    request.on('error', (error) => {
      if (answered) return answered()
      resolve({
        status: null,
        detail: tooLate.aborted
          ? `no answer within ${timeoutMs / 1_000} s`
          : signal?.aborted
            ? 'this server went away during the attempt'
            : describeError(error),
      })
    })
    request.end(body)
  })
}

export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300
}

function describeAnswer(status: number, body: Buffer): string {
  const hint = status >= 300 && status < 400 ? ' (redirects are not followed)' : ''
  const said = body.toString('utf8').replace(/\s+/g, ' ').trim()
  return truncate(
    makeVisible(redact(`HTTP ${status}${hint}${said ? `: ${said}` : ''}`)),
    receiverDetailCharactersMax,
  )
}

/** A name with two addresses fails with a list of errors and no message. */
function describeError(error: NodeJS.ErrnoException): string {
  const { message, code } = error
  const said =
    message && code && !message.includes(code) ? `${message} (${code})` : message || code || 'no reason given'
  return truncate(makeVisible(redact(said)), receiverDetailCharactersMax)
}
