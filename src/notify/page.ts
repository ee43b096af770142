import { redact } from '../base/redact.ts'
import { isSuccess, post } from './post.ts'

/** What goes to whoever is on call. `text` is what Slack and its like show. */
export interface Page {
  type: string
  text: string
  url: string
  detail: string
  checkedAt: Date
}

const timeoutMs = 8_000
const retryAfterMs = 2_000
const attemptsMax = 3

/**
 * Pages through a webhook, within half a minute. Resolves to false when there is nobody to page, and rejects when the page
 * could not be delivered: whoever pages decides when to try again.
 */
export function createPager(options: {
  /** Null: there is nobody to page. */
  url: string | null
  signal?: AbortSignal
  retryAfterMs?: number
}): (page: Page) => Promise<boolean> {
  const { url, signal, retryAfterMs: pauseMs = retryAfterMs } = options
  if (url === null) return async () => false
  const address = new URL(url)
  return async ({ type, text, url, detail, checkedAt }) => {
    const body = JSON.stringify({
      text: redact(text),
      type,
      url,
      detail: redact(detail),
      checkedAt: checkedAt.toISOString(),
    })
    for (let attempt = 1; ; attempt++) {
      const posted = await post(address, {
        headers: { 'Content-Type': 'application/json' },
        body,
        signal,
        timeoutMs,
      })
      if (isSuccess(posted.status)) return true
      if (attempt === attemptsMax || signal?.aborted)
        throw new Error(`The page could not be delivered to HOLDPOINT_ALERT_WEBHOOK_URL: ${posted.detail}`)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}
