import { z } from 'zod'
import { isRecord, isStorable, jsonFault, own } from '../base/json.ts'
import {
  contextBytesMax,
  messageBytesMax,
  metaDepthMax,
  toolNameCharactersMax,
  urlCharactersMax,
} from '../base/limits.ts'
import { codePointLength, makeVisible, truncate } from '../base/text.ts'
import type { Action } from '../elicitation/answer.ts'
import type { Question } from '../elicitation/ask.ts'
import { requestIdPattern } from '../elicitation/elicitation.ts'
import { checkSchemaLimits } from '../elicitation/form/schema-limits.ts'
import { metaKey } from '../gate/meta-key.ts'
import { probeRequestId } from '../gate/probe.ts'

export type Parsed<T> = { ok: true; value: T } | { ok: false; messages: string[] }

const bytes = (text: string) => Buffer.byteLength(text)

const record = (name: string) => z.custom<Record<string, unknown>>(isRecord, `${name} must be a JSON object.`)
const text = (name: string) =>
  z.string({ error: ({ input }) => (input == null ? `${name} is required.` : `${name} must be text.`) })

const body = z.object({
  mode: z.enum(['form', 'url'], 'mode must be "form" or "url".').default('form'),
  message: text('message')
    .refine((message) => message.trim() !== '', 'message must not be blank: it is what the person reads.')
    .refine(
      (message) => bytes(message) <= messageBytesMax,
      `message is over the limit of ${messageBytesMax / 1024} KiB.`,
    ),
  requestedSchema: record('requestedSchema').nullish(),
  _meta: record('_meta'),
  url: text('url').nullish(),
  elicitationId: text('elicitationId')
    .max(200, 'elicitationId must be at most 200 characters.')
    .refine(isStorable, 'elicitationId must hold whole characters, and no U+0000.')
    .nullish(),
})

const meta = z.object({
  requestId: text(metaKey.requestId)
    .refine((id) => id.trim() !== '', `${metaKey.requestId} must not be blank.`)
    .refine(
      (id) => id.trim() === '' || requestIdPattern.test(id),
      `${metaKey.requestId} must be 1 to 200 characters of letters, digits and . _ : -`,
    )
    .refine(
      (id) => id !== probeRequestId,
      `${probeRequestId} is reserved for the reachability probe. Choose another request id.`,
    ),
  sessionId: text(metaKey.sessionId).nullish(),
  toolName: text(metaKey.toolName)
    .refine(
      (name) => codePointLength(name) <= toolNameCharactersMax,
      `${metaKey.toolName} must be at most ${toolNameCharactersMax} characters.`,
    )
    .nullish(),
  context: text(metaKey.context)
    .refine(
      (context) => bytes(context) <= contextBytesMax,
      `${metaKey.context} is over the limit of ${contextBytesMax / 1024} KiB.`,
    )
    .nullish(),
})

export interface ParsedQuestion {
  question: Question
  /** As given; null when absent. */
  sessionReference: string | null
  /** Who a bridge or a launcher says that asks; null when nobody says. */
  serverName: string | null
}

/** Reads the body of a creation. Every fault is reported, not only the first. */
export function parseQuestion(input: unknown): Parsed<ParsedQuestion> {
  if (!isRecord(input)) return { ok: false, messages: ['The body must be a JSON object.'] }
  const messages: string[] = []
  const outer = body.safeParse({
    mode: own(input, 'mode') ?? undefined,
    message: own(input, 'message'),
    requestedSchema: own(input, 'requestedSchema'),
    _meta: own(input, '_meta') ?? {},
    url: own(input, 'url'),
    elicitationId: own(input, 'elicitationId'),
  })
  if (!outer.success) messages.push(...sentences(outer.error))
  const given = isRecord(own(input, '_meta')) ? (own(input, '_meta') as Record<string, unknown>) : {}
  const inner = meta.safeParse({
    requestId: own(given, metaKey.requestId),
    sessionId: own(given, metaKey.sessionId),
    toolName: own(given, metaKey.toolName),
    context: own(given, metaKey.context),
  })
  if (!inner.success) messages.push(...sentences(inner.error))
  if (jsonFault(given, metaDepthMax) === 'too deep')
    messages.push(`_meta is nested more than ${metaDepthMax} levels deep.`)
  const schema = own(input, 'requestedSchema')
  const isForm = own(input, 'mode') !== 'url'
  if (isForm && isRecord(schema)) messages.push(...checkSchemaLimits(schema))
  if (!isForm) messages.push(...urlFaults(own(input, 'url')))
  if (!outer.success || !inner.success || messages.length > 0) return { ok: false, messages }

  const { data } = outer
  return {
    ok: true,
    value: {
      sessionReference: inner.data.sessionId ?? null,
      serverName: serverNameIn(given),
      question: {
        requestId: inner.data.requestId,
        mode: data.mode,
        message: data.message,
        requestedSchema: isForm ? (data.requestedSchema ?? {}) : {},
        meta: given,
        toolName: inner.data.toolName?.trim() || null,
        context: inner.data.context?.trim() ? inner.data.context : null,
        url: isForm ? null : new URL(data.url!).href,
        elicitationId: isForm ? null : (data.elicitationId ?? null),
        expiresAt: own(given, metaKey.expiresAt),
      },
    },
  }
}

function serverNameIn(given: Record<string, unknown>): string | null {
  const name = own(given, metaKey.serverName)
  return typeof name === 'string' && name.trim() !== ''
    ? makeVisible(truncate(name.trim(), toolNameCharactersMax))
    : null
}

function urlFaults(url: unknown): string[] {
  if (typeof url !== 'string' || url.trim() === '')
    return ['url is required in url mode: the address that the person must visit.']
  if (url.length > urlCharactersMax) return [`url must be at most ${urlCharactersMax} characters.`]
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    return ['url must be an absolute http or https address.']
  return []
}

export interface ParsedAnswer {
  action: Action
  content: unknown
  note: string | null
}

const answerKeys = ['action_type', 'content', 'note']
const answerKeyMeant: Record<string, string> = {
  action: 'action_type',
  actionType: 'action_type',
  type: 'action_type',
  status: 'action_type',
  response: 'content',
  answer: 'content',
  data: 'content',
  reason: 'note',
  comment: 'note',
}

/** Reads the body of an answer. `content` may be an object, or a string that holds a JSON object. */
export function parseAnswer(input: unknown): Parsed<ParsedAnswer> {
  if (!isRecord(input))
    return {
      ok: false,
      messages: ['The body must be a JSON object with action_type and, for an accept, content.'],
    }
  const messages = Object.keys(input)
    .filter((key) => !answerKeys.includes(key))
    .slice(0, 10)
    .map((key) => {
      const meant = Object.hasOwn(answerKeyMeant, key) ? answerKeyMeant[key] : null
      return `Unknown key ${JSON.stringify(key.slice(0, 60))}: ${meant ? `use ${meant}` : `use ${answerKeys.join(', ')}; the answers to the form go inside content`}.`
    })
  const action = own(input, 'action_type')
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel')
    messages.push('action_type must be "accept", "decline" or "cancel".')
  const note = own(input, 'note') ?? null
  if (note !== null && typeof note !== 'string') messages.push('note must be text.')
  const content = contentObject(own(input, 'content'))
  if (content === 'not an object' && action === 'accept')
    messages.push(
      'content must be an object that maps the names of fields to their answers, or a string that holds one as JSON.',
    )
  if (messages.length > 0) return { ok: false, messages }
  return {
    ok: true,
    value: {
      action: action as Action,
      content: content === 'not an object' ? null : content,
      note: note as string | null,
    },
  }
}

function contentObject(content: unknown): Record<string, unknown> | null | 'not an object' {
  if (content === undefined || content === null) return null
  if (isRecord(content)) return content
  if (typeof content !== 'string') return 'not an object'
  try {
    const parsed: unknown = JSON.parse(content)
    return isRecord(parsed) ? parsed : 'not an object'
  } catch {
    return 'not an object'
  }
}

function sentences(error: z.ZodError): string[] {
  return error.issues.map(({ message }) => message)
}
