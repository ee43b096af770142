import { type Limit, type LimitCode, limitCode } from './limits.ts'

/** A new one has to be given a status in rest/envelope.ts, which the type check sees to. */
export type RefusalCode =
  | 'NOT_FOUND'
  | 'INVALID_INPUT'
  | 'INVALID_CONTENT'
  | 'INVALID_TRANSITION'
  | 'ALREADY_RESOLVED'
  | 'EXPIRED'
  | 'SELF_APPROVAL'
  | 'FORBIDDEN'
  | 'REQUEST_ID_TAKEN'
  | 'SESSION_ARCHIVED'
  | LimitCode

/**
 * A refusal: the expected answer to something that cannot be done. Domain functions *return* refusals (a refusal may
 * come with a change that must be committed, such as a request found expired); the edges throw or print them.
 * `code` is stable and public; the message says what to do next.
 */
export abstract class Refusal extends Error {
  abstract readonly code: RefusalCode

  constructor(message: string) {
    super(message)
    this.name = new.target.name
  }
}

export interface FieldProblem {
  name: string
  messages: string[]
}

export class NotFoundError extends Refusal {
  readonly code = 'NOT_FOUND'
}

export class InvalidInputError extends Refusal {
  readonly code = 'INVALID_INPUT'
  readonly fields: FieldProblem[]

  constructor(fields: FieldProblem[], message = sentence(fields)) {
    super(message)
    this.fields = fields
  }
}

/** The content of an answer does not fit the form. The request stays pending. */
export class InvalidContentError extends Refusal {
  readonly code = 'INVALID_CONTENT'
  readonly fields: FieldProblem[]

  constructor(fields: FieldProblem[]) {
    super(
      `The content does not fit the form. ${sentence(fields)} Correct it and answer again; the request is still pending.`,
    )
    this.fields = fields
  }
}

export class InvalidTransitionError extends Refusal {
  readonly code = 'INVALID_TRANSITION'
  readonly status: string
  readonly event: string

  constructor(status: string, event: string, message: string) {
    super(message)
    this.status = status
    this.event = event
  }
}

export class AlreadyResolvedError extends Refusal {
  readonly code = 'ALREADY_RESOLVED'
  readonly status: string
  readonly respondedAt: Date | null
  readonly respondedBy: { name: string; surface: string } | null

  constructor(outcome: {
    status: string
    respondedAt: Date | null
    respondedBy: { name: string; surface: string } | null
  }) {
    const who = outcome.respondedBy ? ` by ${outcome.respondedBy.name} (${outcome.respondedBy.surface})` : ''
    const when = outcome.respondedAt ? ` at ${outcome.respondedAt.toISOString()}` : ''
    super(
      `This request already ended as ${outcome.status}${who}${when}. A final status never changes; there is nothing left to do.`,
    )
    this.status = outcome.status
    this.respondedAt = outcome.respondedAt
    this.respondedBy = outcome.respondedBy
  }
}

export class ExpiredError extends Refusal {
  readonly code = 'EXPIRED'
  readonly expiresAt: Date

  constructor(expiresAt: Date) {
    super(
      `This request expired at ${expiresAt.toISOString()}: the MCP server was told so and went on without approval. If it still matters, let the agent ask again.`,
    )
    this.expiresAt = expiresAt
  }
}

export class SelfApprovalError extends Refusal {
  readonly code = 'SELF_APPROVAL'

  constructor() {
    super(
      "This key is bound to the agent's own session and cannot answer for it. A person has to answer, with a key of their own.",
    )
  }
}

export class ForbiddenError extends Refusal {
  readonly code = 'FORBIDDEN'
}

/** The request id belongs to another request, or to one whose answer has been delivered. */
export class RequestIdTakenError extends Refusal {
  readonly code = 'REQUEST_ID_TAKEN'
}

export class SessionArchivedError extends Refusal {
  readonly code = 'SESSION_ARCHIVED'
}

/** A limit of count or rate is passed; it is worth trying again after `retryAfterSeconds`. */
export class TooManyError extends Refusal {
  readonly code: LimitCode
  readonly retryAfterSeconds: number

  constructor(limit: Limit, message: string, retryAfterSeconds: number) {
    super(message)
    this.code = limitCode(limit)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export function unknownSession(): NotFoundError {
  return new NotFoundError('There is no such session. Check its id.')
}

/** What is wrong with one field of an input. */
export function invalidInput(name: string, message: string): InvalidInputError {
  return new InvalidInputError([{ name, messages: [message] }])
}

export function isRefusal(value: unknown): value is Refusal {
  return value instanceof Refusal
}

function sentence(fields: FieldProblem[]): string {
  return fields
    .flatMap(({ name, messages }) => messages.map((message) => (name ? `${name}: ${message}` : message)))
    .join(' ')
}
