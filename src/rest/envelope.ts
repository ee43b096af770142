import type { FastifyReply } from 'fastify'
import { type LimitCode, limitCode, limitNames } from '../base/limits.ts'
import {
  AlreadyResolvedError,
  InvalidContentError,
  type Refusal,
  type RefusalCode,
  TooManyError,
} from '../base/refusal.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** What the request was refused with; null when it was not. */
    refusalCode: string | null
  }
}

/** What every error of the REST surface looks like. `code` is stable. */
export interface ErrorEnvelope {
  error: string
  message: string
  messages: string[]
  code: ErrorCode
  [more: string]: unknown
}

type Status = [status: number, title: string]

/** Every code, with its status. docs/protocol.md says of each what to do. */
export const statusOf = {
  UNAUTHENTICATED: [401, 'Not signed in'],
  FORBIDDEN: [403, 'Not allowed'],
  SELF_APPROVAL: [403, 'No agent approves its own gate'],
  CROSS_SITE: [403, 'Not allowed'],
  FOREIGN_ORIGIN: [403, 'Not allowed'],
  FOREIGN_HOST: [403, 'Not allowed'],
  CAPABILITY_REQUIRED: [403, 'Not allowed'],
  NOT_THE_REQUESTER: [403, 'Not allowed'],
  NOT_FOUND: [404, 'Not found'],
  SESSION_ARCHIVED: [409, 'Session archived'],
  INVALID_TRANSITION: [409, 'Not possible now'],
  BODY_TOO_LARGE: [413, 'Body too large'],
  NOT_JSON: [415, 'Not JSON'],
  HEADERS_TOO_LARGE: [431, 'Headers too large'],
  REQUEST_TIMEOUT: [408, 'Request timeout'],
  MALFORMED_JSON: [400, 'Malformed JSON'],
  BAD_REQUEST: [400, 'Bad request'],
  INVALID_INPUT: [422, 'Invalid request'],
  INVALID_CONTENT: [422, 'Invalid content'],
  REQUEST_ID_TAKEN: [422, 'Request id taken'],
  ALREADY_RESOLVED: [422, 'Already resolved'],
  EXPIRED: [422, 'Expired'],
  ...(Object.fromEntries(limitNames.map((limit) => [limitCode(limit), [429, 'Too many requests']])) as Record<
    LimitCode,
    Status
  >),
  INTERNAL: [500, 'Internal error'],
  GOING_AWAY: [503, 'Going away'],
  DATABASE_UNAVAILABLE: [503, 'Database unavailable'],
} satisfies Record<RefusalCode, Status> & Record<string, Status>

export type ErrorCode = keyof typeof statusOf

export function envelopeOf(
  code: ErrorCode,
  messages: string | string[],
  more: Record<string, unknown> = {},
): [status: number, body: ErrorEnvelope] {
  const [status, title] = statusOf[code]
  const all = Array.isArray(messages) ? messages : [messages]
  return [status, { error: title, message: all.join(' '), messages: all, code, ...more }]
}

export function sendError(
  reply: FastifyReply,
  code: ErrorCode,
  messages: string | string[],
  more: Record<string, unknown> = {},
): FastifyReply {
  const [status, body] = envelopeOf(code, messages, more)
  reply.refusalCode = body.code
  return reply.code(status).send(body)
}

export function sendRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  if (refusal instanceof InvalidContentError)
    return sendError(
      reply,
      refusal.code,
      refusal.fields.flatMap(({ name, messages }) =>
        messages.map((message) => (name ? `${name}: ${message}` : message)),
      ),
      {
        fields: Object.fromEntries(refusal.fields.map(({ name, messages }) => [name, messages])),
      },
    )
  if (refusal instanceof AlreadyResolvedError)
    return sendError(reply, refusal.code, refusal.message, {
      status: refusal.status,
      respondedAt: refusal.respondedAt?.toISOString() ?? null,
      respondedBy: refusal.respondedBy?.name ?? null,
    })
  if (refusal instanceof TooManyError) reply.header('Retry-After', refusal.retryAfterSeconds)
  return sendError(reply, refusal.code, refusal.message)
}
