import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto'

/** A UUID of version 7: ids made later sort later. */
export function newId(): string {
  return randomUUIDv7()
}

/** Comes before every id, for whoever goes through them in order. */
export const beforeAllIds = '00000000-0000-0000-0000-000000000000'

/** When an id that `newId` made was made. */
export function createdAtOf(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a text may be put to a uuid column: PostgreSQL answers anything else with an error. */
export function isUuid(text: string): boolean {
  return uuid.test(text)
}

/** `bytes` of randomness as base64url. 32 bytes cannot be guessed; 24 make a capability token. */
export function newToken(bytes: number): string {
  return randomBytes(bytes).toString('base64url')
}

/** SHA-256 in hexadecimal. Enough for tokens of full randomness, which is all that it is used for. */
export function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

const suffixAlphabet = 'abcdefghijklmnopqrstuvwxyz234567'

/** A url-safe slug from a title; six random characters at its end keep it from being guessed. */
export function newSlug(title: string): string {
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 48)
    .replace(/-+$/, '')
  return `${words || 'session'}-${slugSuffix()}`
}

function slugSuffix(): string {
  return Array.from(randomBytes(6), (byte) => suffixAlphabet[byte & 31]).join('')
}
