import webpush from 'web-push'
import { noticeMessageCharactersMax } from '../base/limits.ts'
import { redact } from '../base/redact.ts'
import { truncate } from '../base/text.ts'
import type { Database } from '../database/database.ts'
import { sharedSecret } from '../database/secret.ts'
import type { NoticeType } from './notice.ts'
import { isSuccess, post } from './post.ts'
import { isPublicAddress, literalAddress, lookupPublic } from './public-address.ts'
import type { Subject } from './subject.ts'
import { type Delivered, sessionUrl, shortSummary } from './webhook.ts'

/** The pair by which push services know this installation. Browsers subscribe to its public half: whoever changes it loses them. */
export interface VapidKeys {
  publicKey: string
  privateKey: string
}

/** Where a push may go. `any` is for tests: also http, and loopback. */
export type PushAddresses = 'public' | 'any'

/** What the page's service worker is told. One tag is one notification: it is shown, replaced, and closed when it is resolved. */
export interface PushMessage {
  kind: 'pending' | 'resolved'
  tag: string
  title: string
  body: string
  url: string
}

export interface PushTerms {
  /** For how long the push service keeps it for a browser that is away. */
  ttlSeconds: number
  urgency: 'normal' | 'high'
  /** Of several with one topic, the push service keeps the last. */
  topic: string
}

export interface PushReceiver {
  endpoint: string
  p256dh: string
  auth: string
}

export interface WebPush {
  publicKey: string
  addresses: PushAddresses
  send(to: PushReceiver, message: PushMessage, terms: PushTerms): Promise<Delivered>
}

const titleCharactersMax = 100
const daySeconds = 24 * 60 * 60
const ttlMinSeconds = 60

/**
 * The configured keys, or else those that the first server of this database made up. They are kept in the database, as the
 * subscriptions are: all its servers must show the same ones.
 */
export async function loadVapidKeys(database: Database, configured: VapidKeys | null): Promise<VapidKeys> {
  if (configured) {
    try {
      webpush.setVapidDetails('mailto:check@holdpoint.invalid', configured.publicKey, configured.privateKey)
      return configured
    } catch (error) {
      throw new Error(
        'HOLDPOINT_VAPID_PUBLIC_KEY and HOLDPOINT_VAPID_PRIVATE_KEY are no pair of VAPID keys. Make one with "npx web-push generate-vapid-keys", or unset both.',
        { cause: error },
      )
    }
  }
  return JSON.parse(await sharedSecret(database, 'vapid', () => JSON.stringify(webpush.generateVAPIDKeys())))
}

export function createWebPush(options: {
  keys: VapidKeys
  publicUrl: string
  addresses?: PushAddresses
  signal?: AbortSignal
  timeoutMs?: number
}): WebPush {
  const { keys, publicUrl, addresses = 'public', signal, timeoutMs } = options
  // Whom a push service writes to when there is trouble: it wants https or mailto.
  const subject = publicUrl.startsWith('https:') ? publicUrl : 'mailto:operator@holdpoint.invalid'
  return {
    publicKey: keys.publicKey,
    addresses,
    async send({ endpoint, p256dh, auth }, message, { ttlSeconds, urgency, topic }) {
      const url = new URL(endpoint)
      const literal = literalAddress(url)
      if (addresses === 'public' && literal !== null && !isPublicAddress(literal))
        return { ok: false, gone: true, detail: 'the endpoint is not an address of the public internet' }
      const { headers, body } = webpush.generateRequestDetails(
        { endpoint, keys: { p256dh, auth } },
        JSON.stringify(message),
        { vapidDetails: { subject, ...keys }, TTL: ttlSeconds, urgency, topic },
      )
      const { status, detail } = await post(url, {
        headers: headers as Record<string, string>,
        body,
        signal,
        timeoutMs,
        ...(addresses === 'public' ? { lookup: lookupPublic } : {}),
      })
      return isSuccess(status) ? { ok: true } : { ok: false, gone: status === 404 || status === 410, detail }
    },
  }
}

/** What a push says of a subject, and on what terms it is sent. Redacted and cut: it shows on locked screens. */
export function pushMessage(
  type: NoticeType,
  { session, elicitation }: Subject,
  publicUrl: string,
  now: Date,
): { message: PushMessage; terms: PushTerms } {
  const title = (what: string) => truncate(`${what}: ${redact(session!.title)}`, titleCharactersMax)
  const about = elicitation ?? session!
  const common = { tag: about.id, url: sessionUrl(publicUrl, session!.id) }
  const topic = about.id.replaceAll('-', '')
  switch (type) {
    case 'elicitation.pending':
      return {
        message: {
          ...common,
          kind: 'pending',
          title: title('Approval request'),
          body: shortSummary(elicitation!.toolName, elicitation!.message),
        },
        terms: {
          ttlSeconds: Math.max(
            Math.ceil((elicitation!.expiresAt.getTime() - now.getTime()) / 1_000),
            ttlMinSeconds,
          ),
          urgency: 'high',
          topic,
        },
      }
    case 'elicitation.resolved':
      return {
        message: {
          ...common,
          kind: 'resolved',
          title: title(ended[elicitation!.status] ?? 'Ended'),
          body: '',
        },
        terms: { ttlSeconds: daySeconds, urgency: 'high', topic },
      }
    case 'session.failed':
      return {
        message: {
          ...common,
          kind: 'pending',
          title: title('Failed'),
          body: truncate(redact(session!.failureReason ?? ''), noticeMessageCharactersMax),
        },
        terms: { ttlSeconds: daySeconds, urgency: 'normal', topic },
      }
    default:
      return {
        message: {
          ...common,
          kind: 'pending',
          title: title('Waiting for you'),
          body: 'The agent has ended its turn.',
        },
        terms: { ttlSeconds: daySeconds, urgency: 'normal', topic },
      }
  }
}

const ended: Record<string, string> = {
  accept: 'Accepted',
  decline: 'Declined',
  cancel: 'Dismissed',
  expired: 'Expired',
}
