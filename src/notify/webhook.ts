import { Webhook } from 'standardwebhooks'
import { noticeMessageCharactersMax } from '../base/limits.ts'
import { redact } from '../base/redact.ts'
import { summarise, truncate } from '../base/text.ts'
import type { NoticeType } from './notice.ts'
import { isSuccess, post } from './post.ts'
import type { Subject } from './subject.ts'

/** How an attempt to deliver ended. `gone`: the receiver is no more, and is not to be tried again. */
export type Delivered = { ok: true } | { ok: false; gone: boolean; detail: string }

/** The body of a webhook. It names no request id: whoever holds one can poll. */
export interface WebhookBody {
  type: NoticeType
  /** When it happened, ISO 8601. */
  timestamp: string
  data: {
    session: { id: string; slug: string; title: string; url: string } | null
    elicitation: {
      id: string
      toolName: string | null
      serverName: string | null
      summary: string
      expiresAt: string
      status: string
      cause: string | null
      /** Where a person answers it; a GET there answers nothing. */
      url: string
    } | null
    /** With the types that begin with `gate`. */
    gate?: { url: string; detail: string; checkedAt: string }
  }
}

export function webhookBody(type: NoticeType, subject: Subject, publicUrl: string): WebhookBody {
  const { at, session, elicitation, gate } = subject
  // What it was when this was first said: all attempts of one notification say the same.
  const isPending = type === 'elicitation.pending'
  return {
    type,
    timestamp: at.toISOString(),
    data: {
      session: session && {
        id: session.id,
        slug: session.slug,
        title: redact(session.title),
        url: sessionUrl(publicUrl, session.id),
      },
      elicitation: elicitation && {
        id: elicitation.id,
        toolName: redact(elicitation.toolName),
        serverName: redact(elicitation.serverName),
        summary: shortSummary(elicitation.toolName, elicitation.message),
        expiresAt: elicitation.expiresAt.toISOString(),
        status: isPending ? 'pending' : elicitation.status,
        cause: isPending ? null : elicitation.cause,
        url: sessionUrl(publicUrl, session!.id),
      },
      ...(gate ? { gate: { ...gate, detail: redact(gate.detail) } } : {}),
    },
  }
}

/** The request's tool and message for notifications. Redacted first: half of a secret no longer looks like one. */
export function shortSummary(toolName: string | null, message: string): string {
  return summarise(redact(toolName), truncate(redact(message), noticeMessageCharactersMax))
}

export function sessionUrl(publicUrl: string, sessionId: string): string {
  return `${publicUrl}/sessions/${sessionId}`
}

export interface WebhookOptions {
  url: string
  /** `whsec_…` of Standard Webhooks. Null: unsigned. */
  secret: string | null
  now: () => Date
  signal?: AbortSignal
  timeoutMs?: number
}

/**
 * Sends by Standard Webhooks (standardwebhooks.com): the id stays the same through all attempts, so that a receiver can
 * tell a repetition; the timestamp and with it the signature are the attempt's own. Throws on a secret that is not one.
 */
export function createWebhook({ url, secret, now, signal, timeoutMs }: WebhookOptions) {
  const address = new URL(url)
  const signer = secret === null ? null : new Webhook(secret)
  return async (notificationId: string, content: WebhookBody): Promise<Delivered> => {
    const id = `msg_${notificationId}`
    const body = JSON.stringify(content)
    const at = now()
    const { status, detail } = await post(address, {
      headers: {
        'Content-Type': 'application/json',
        'Webhook-Id': id,
        'Webhook-Timestamp': Math.floor(at.getTime() / 1_000),
        ...(signer ? { 'Webhook-Signature': signer.sign(id, at, body) } : {}),
      },
      body,
      signal,
      timeoutMs,
    })
    return isSuccess(status) ? { ok: true } : { ok: false, gone: false, detail }
  }
}
