import { type Api, createApi, succeeded } from './api.ts'
import type { RoleWord } from './choices.ts'
import { findConnection, requireOwnKey } from './connection.ts'
import {
  type ApiKey,
  type CreateKeyData,
  createKeyDocument,
  type KeysData,
  keysDocument,
  type RevokeKeyData,
  type Role,
  type RotateKeyData,
  revokeKeyDocument,
  rotateKeyDocument,
} from './documents.ts'
import { findSession } from './launch.ts'
import { exitCodes, Problem } from './problem.ts'
import { quotedLine, sayJson, type Terminal, table } from './terminal.ts'

export interface CreateKeyOptions {
  role: RoleWord
  expires?: string
  session?: string
  json?: boolean
}

export async function createKey(
  options: CreateKeyOptions,
  name: string,
  terminal: Terminal,
): Promise<number> {
  const api = await adminApi(terminal)
  const expiresAt = options.expires === undefined ? null : expiryOf(options.expires)
  const sessionId = options.session === undefined ? null : (await findSession(api, options.session)).id
  const input = { name, role: options.role.toUpperCase() as Role, expiresAt, sessionId }
  const { createApiKey } = await api.request<CreateKeyData>(createKeyDocument, { input })
  const { secret, apiKey } = succeeded<{ secret: string; apiKey: ApiKey }>(createApiKey)
  if (options.json) sayJson(terminal, { secret, apiKey })
  else {
    terminal.say(secret)
    terminal.note(
      `holdpoint: this is the key ${quotedLine(apiKey.name)} (${options.role}). It is shown this once.`,
    )
  }
  return exitCodes.done
}

export async function listKeys({ json }: { json?: boolean }, terminal: Terminal): Promise<number> {
  const { apiKeys } = await (await adminApi(terminal)).request<KeysData>(keysDocument)
  if (json) sayJson(terminal, apiKeys)
  else {
    const rows = apiKeys.map((key) => [
      key.id,
      key.prefix,
      key.role.toLowerCase(),
      stateOf(key),
      quotedLine(key.name),
    ])
    for (const line of table([['ID', 'PREFIX', 'ROLE', 'STATE', 'NAME'], ...rows])) terminal.say(line)
  }
  return exitCodes.done
}

export async function rotateKey(
  { overlap, json }: { overlap: string; json?: boolean },
  id: string,
  terminal: Terminal,
): Promise<number> {
  const overlapMinutes = minutesOf(overlap)
  const api = await adminApi(terminal)
  const { rotateApiKey } = await api.request<RotateKeyData>(rotateKeyDocument, { id, overlapMinutes })
  const { secret, apiKey, replaced } = succeeded<{ secret: string; apiKey: ApiKey; replaced: ApiKey }>(
    rotateApiKey,
  )
  if (json) sayJson(terminal, { secret, apiKey, replaced })
  else {
    terminal.say(secret)
    const old = replaced.revokedAt === null ? `works until ${replaced.expiresAt}` : 'is revoked'
    terminal.note(
      `holdpoint: this is the new key ${quotedLine(apiKey.name)} (${apiKey.role.toLowerCase()}). It is shown this once. The old one ${old}.`,
    )
  }
  return exitCodes.done
}

export async function revokeKey(
  { json }: { json?: boolean },
  id: string,
  terminal: Terminal,
): Promise<number> {
  const { revokeApiKey } = await (await adminApi(terminal)).request<RevokeKeyData>(revokeKeyDocument, { id })
  const { apiKey } = succeeded<{ apiKey: ApiKey }>(revokeApiKey)
  if (json) sayJson(terminal, apiKey)
  else terminal.say(`${apiKey.prefix} ${quotedLine(apiKey.name)}: revoked`)
  return exitCodes.done
}

async function adminApi(terminal: Terminal): Promise<Api> {
  const connection = await findConnection(terminal.environment)
  requireOwnKey(connection, 'Managing keys', 'admin')
  return createApi(connection)
}

function stateOf({ revokedAt, expiresAt, sessionId, lastUsedAt }: ApiKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt.slice(0, 10)}`
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return `expired ${expiresAt.slice(0, 10)}`
  const until = expiresAt === null ? '' : `, until ${expiresAt.slice(0, 10)}`
  const bound = sessionId === null ? '' : ', one session'
  return `${lastUsedAt === null ? 'never used' : `used ${lastUsedAt.slice(0, 10)}`}${bound}${until}`
}

/** `7d`, `12h` or `30m`; `0` for none. */
function minutesOf(text: string): number {
  if (text === '0') return 0
  const [, count, unit] = /^(\d{1,5})([dhm])$/.exec(text) ?? []
  if (count !== undefined) return Number(count) * { d: 24 * 60, h: 60, m: 1 }[unit as 'd' | 'h' | 'm']
  throw new Problem(
    `--overlap takes days (7d), hours (12h), minutes (30m) or 0, not ${JSON.stringify(text)}.`,
    exitCodes.usage,
  )
}

/** `30d`, `12h`, or a moment in ISO 8601. */
function expiryOf(text: string): string {
  const [, count, unit] = /^(\d{1,5})([dh])$/.exec(text) ?? []
  if (count !== undefined)
    return new Date(Date.now() + Number(count) * (unit === 'd' ? 86_400_000 : 3_600_000)).toISOString()
  if (!Number.isNaN(Date.parse(text))) return new Date(text).toISOString()
  throw new Problem(
    `--expires takes days (30d), hours (12h) or a date (2027-01-31), not ${JSON.stringify(text)}.`,
    exitCodes.usage,
  )
}
