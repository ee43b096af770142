import { isBlank } from './dotenv.ts'
import { type Environment, emptyEnvironment } from './environment.ts'

/**
 * The five variables that an agent is started with, in the order in which they are shown, and only these.
 * `ELICITATION_ENABLED` is not one of them on purpose: whether a server gates an action is that server's decision.
 */
export const spawnVariables = [
  'ELICITATION_REQUEST_URL',
  'ELICITATION_POLL_URL',
  'ELICITATION_PREFER_HTTP_FALLBACK',
  'ELICITATION_TTL_MS',
  'ELICITATION_SESSION_ID',
] as const

export type SpawnVariable = (typeof spawnVariables)[number]

export interface SpawnSettings {
  /** From `collectionUrl`. */
  collectionUrl: string
  /** The default expiration; the client's own fuse is 5 minutes and outranks the server's deadline. */
  expirationMs: number
  sessionId?: string
  /** The session's `.env`, from `parseDotenv`: a value there that is not blank wins over ours. */
  dotenv: Readonly<Environment>
}

/** The spawn environment. `ELICITATION_SESSION_ID` is left out when there is no session. */
export function spawnEnvironment(settings: SpawnSettings): Environment {
  if (!Number.isSafeInteger(settings.expirationMs) || settings.expirationMs <= 0) {
    throw new RangeError(`expirationMs must be a positive integer, not ${settings.expirationMs}`)
  }
  const ours: Environment = emptyEnvironment()
  ours.ELICITATION_REQUEST_URL = settings.collectionUrl
  // The client takes the HTTP route only when both URLs are there, even though it could work out the second.
  ours.ELICITATION_POLL_URL = settings.collectionUrl
  // Headless runtimes advertise native elicitation with nobody behind it.
  ours.ELICITATION_PREFER_HTTP_FALLBACK = 'true'
  ours.ELICITATION_TTL_MS = String(settings.expirationMs)
  if (settings.sessionId !== undefined) ours.ELICITATION_SESSION_ID = settings.sessionId
  return withDotenv(ours, settings.dotenv)
}

/** The five variables out of `ours`, in their order, each replaced by the `.env`'s value where that is not blank. */
export function withDotenv(ours: Readonly<Environment>, dotenv: Readonly<Environment>): Environment {
  const environment = emptyEnvironment()
  for (const name of spawnVariables) {
    const value = isBlank(dotenv[name]) ? ours[name] : dotenv[name]
    if (value !== undefined) environment[name] = value
  }
  return environment
}

/** Which of the five the `.env` decides: to be named on the session page and in the timeline. */
export function dotenvOverrides(dotenv: Readonly<Environment>): SpawnVariable[] {
  return spawnVariables.filter((name) => !isBlank(dotenv[name]))
}

/** What a person should hear about a `.env` that takes part in the gate; empty when there is nothing to say. */
export function dotenvWarnings(dotenv: Readonly<Environment>): string[] {
  const overrides = new Set(dotenvOverrides(dotenv))
  if (overrides.has('ELICITATION_REQUEST_URL') === overrides.has('ELICITATION_POLL_URL')) return []
  const [has, lacks] = overrides.has('ELICITATION_REQUEST_URL')
    ? ['ELICITATION_REQUEST_URL', 'ELICITATION_POLL_URL']
    : ['ELICITATION_POLL_URL', 'ELICITATION_REQUEST_URL']
  return [
    `The session's .env sets ${has} but not ${lacks}: requests would be made at one address and polled at another, ` +
      'which ends the wait with an error. Set both, or neither.',
  ]
}

/**
 * How long the fallback client will wait for what `ELICITATION_TTL_MS` says, in ms. It reads the leading digits
 * (`300000abc` is 300000) and falls back to 5 minutes for what is negative or no number (source of
 * `@pulsemcp/mcp-elicitation`).
 */
export function clientTtlMs(value: string | undefined): number {
  const parsed = Number.parseInt(value ?? '', 10)
  return Number.isNaN(parsed) || parsed < 0 ? 300_000 : parsed
}
