import type { Role } from '../generated/graphql.ts'

export type SignInOutcome = { ok: true; name: string; role: Role } | { ok: false; message: string }

/** Exchanges a key, or the token of a one-time link, for this browser's cookie. */
export async function signIn(credential: { key: string } | { link: string }): Promise<SignInOutcome> {
  let response: Response
  try {
    response = await post('/api/v1/sign-in', credential)
  } catch {
    return { ok: false, message: 'Holdpoint cannot be reached. Check your connection and try again.' }
  }
  const body: unknown = await response.json().catch(() => null)
  if (response.ok) return { ok: true, ...(body as { name: string; role: Role }) }
  const message = (body as { message?: unknown } | null)?.message
  return {
    ok: false,
    message:
      typeof message === 'string'
        ? message
        : `The server answered ${response.status}. Try again in a moment.`,
  }
}

export async function signOut(): Promise<void> {
  await post('/api/v1/sign-out', {})
}

function post(path: string, body: object): Promise<Response> {
  return fetch(path, {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  })
}
