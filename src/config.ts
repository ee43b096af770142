import { isAbsolute, resolve } from 'node:path'
import { compile } from '@fastify/proxy-addr'
import { z } from 'zod'
import {
  chosenKeyCharactersMin,
  configurableLimits,
  elicitationDeadlineMaxMs,
  keyCharactersMax,
  type Limits,
  limitNames,
  limitVariable,
} from './base/limits.ts'
import type { Role } from './database/generated/prisma/enums.ts'
import {
  addressWarnings,
  type GateAccess,
  isLoopbackHost,
  isWildcardHost,
  parsePublicUrl,
  publicUrlOf,
} from './gate/address.ts'

export type Environment = 'development' | 'staging' | 'production'

export interface Config {
  host: string
  port: number
  /** The address that agents and links use. Null: the one that the server listens on. */
  publicUrl: string | null
  /** Null: the embedded database in the data folder. */
  databaseUrl: string | null
  dataDir: string
  adminKey: string | null
  environment: Environment
  defaultExpirationMs: number
  pollHoldMs: number
  heldPollsMax: number
  limits: Limits
  gateAccess: GateAccess
  /** Names, beside loopback and PUBLIC_URL's own, that the open endpoints answer to. */
  allowedHosts: string[]
  /** What Fastify takes: false, true, or a list of proxy addresses. */
  trustProxy: boolean | string[]
  /** The header in which a trusted proxy names its user, and the role of such users. */
  trustedUserHeader: { name: string; role: Role } | null
  alertWebhookUrl: string | null
  notifyWebhookUrl: string | null
  webhookSecret: string | null
  retentionDays: number | null
  forgetContentMinutes: number | null
  vapidPublicKey: string | null
  vapidPrivateKey: string | null
  logLevel: string
}

export type ConfigResult =
  | { ok: true; config: Config; warnings: string[] }
  | { ok: false; problems: string[] }

const minute = 60_000
const defaultExpirationMinutes = 60
const expirationMinutesMax = elicitationDeadlineMaxMs / minute

const webUrl = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`)
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean),
)

function areProxies(text: string): boolean {
  const proxies = trustedProxies(text)
  if (!Array.isArray(proxies)) return true
  try {
    compile(proxies)
    return true
  } catch {
    return false
  }
}

/** As Standard Webhooks writes them, padding and all. */
function isWebhookSecret(text: string): boolean {
  const key = text.replace(/^whsec_/, '')
  return key.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(key) && Buffer.from(key, 'base64').length >= 16
}

const limitVariables: Record<string, z.ZodType<number>> = Object.fromEntries(
  limitNames.map((limit) => {
    const rule = configurableLimits[limit]
    return [limitVariable(limit), wholeNumber(1, rule.max).default(rule.default)]
  }),
)

/** One entry a variable; a blank one is one that is not set. */
const variables = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber(1, 65_535).default(4010),
  PUBLIC_URL: z.string().optional(),
  DATABASE_URL: z
    .string()
    .refine((text) => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text), 'must be a postgres:// address')
    .optional(),
  HOLDPOINT_DATA_DIR: z.string().default('.holdpoint'),
  HOLDPOINT_ADMIN_KEY: z
    .string()
    .min(chosenKeyCharactersMin, `must be at least ${chosenKeyCharactersMin} characters long`)
    .max(keyCharactersMax, `must be at most ${keyCharactersMax} characters long`)
    .optional(),
  HOLDPOINT_ENV: z
    .enum(['development', 'staging', 'production'], 'must be development, staging or production')
    .default('development'),
  HOLDPOINT_POLL_HOLD_SECONDS: wholeNumber(0, 60).default(8),
  HOLDPOINT_HELD_POLLS_MAX: wholeNumber(0, 1_000_000).default(20_000),
  ...limitVariables,
  HOLDPOINT_GATE_ACCESS: z
    .enum(['open', 'mixed', 'capability'], 'must be open, mixed or capability')
    .default('open'),
  HOLDPOINT_ALLOWED_HOSTS: list
    .refine(
      (hosts) => hosts.every((host) => /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:\d+)?$/.test(host)),
      'must be names such as gate.example.org, separated by commas, without http:// and path',
    )
    .default([]),
  HOLDPOINT_TRUST_PROXY: z
    .string()
    .refine(
      areProxies,
      'must be true, false, or addresses and networks separated by commas, such as 10.0.0.0/8 or loopback',
    )
    .optional(),
  HOLDPOINT_TRUSTED_USER_HEADER: z
    .string()
    .regex(
      /^[A-Za-z0-9-]+(=(viewer|responder|launcher|operator|admin))?$/,
      'must be the name of a header, or name=role with the role of those users (responder when left out)',
    )
    .optional(),
  HOLDPOINT_ALERT_WEBHOOK_URL: z.string().refine(webUrl, 'must be an http or https address').optional(),
  HOLDPOINT_NOTIFY_WEBHOOK_URL: z.string().refine(webUrl, 'must be an http or https address').optional(),
  HOLDPOINT_WEBHOOK_SECRET: z
    .string()
    .refine(
      isWebhookSecret,
      'must be base64 of at least 16 bytes, with or without whsec_ in front; openssl rand -base64 32 makes one',
    )
    .optional(),
  HOLDPOINT_RETENTION_DAYS: wholeNumber(1, 36_500).optional(),
  HOLDPOINT_FORGET_CONTENT_MINUTES: wholeNumber(1, 52_560_000).optional(),
  HOLDPOINT_VAPID_PUBLIC_KEY: z.string().optional(),
  HOLDPOINT_VAPID_PRIVATE_KEY: z.string().optional(),
  LOG_LEVEL: z
    .enum(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'must be fatal, error, warn, info, debug, trace or silent',
    )
    .default('info'),
})

/** Everything that is read from the environment. */
export const variableNames = [...Object.keys(variables.shape), 'ELICITATION_EXPIRATION_MINUTES']

/** Reads the whole environment at once: every fault is reported, none stops the reading of the next. */
export function readConfig(environment: Record<string, string | undefined>, cwd: string): ConfigResult {
  const set = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim()]] : [])),
  )
  const problems: string[] = []
  const warnings: string[] = []
  const parsed = variables.safeParse(set)
  if (!parsed.success)
    problems.push(...parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`))

  const host = set.HOST ?? '127.0.0.1'
  if (isWildcardHost(host) && !set.PUBLIC_URL)
    problems.push(
      `PUBLIC_URL must be set when HOST is ${host}: agents have to be told an address that they can call`,
    )
  const address = set.PUBLIC_URL === undefined ? null : parsePublicUrl(set.PUBLIC_URL)
  if (address && !address.ok) problems.push(`PUBLIC_URL: ${address.problem}`)

  if (Boolean(set.HOLDPOINT_VAPID_PUBLIC_KEY) !== Boolean(set.HOLDPOINT_VAPID_PRIVATE_KEY))
    problems.push('HOLDPOINT_VAPID_PUBLIC_KEY and HOLDPOINT_VAPID_PRIVATE_KEY must be set together')
  if (set.HOLDPOINT_TRUSTED_USER_HEADER && !Array.isArray(trustedProxies(set.HOLDPOINT_TRUST_PROXY)))
    problems.push(
      'HOLDPOINT_TRUSTED_USER_HEADER needs addresses in HOLDPOINT_TRUST_PROXY: say which proxy may name a user',
    )
  const defaultExpirationMs = expiration(set.ELICITATION_EXPIRATION_MINUTES, warnings)
  if (!parsed.success || problems.length > 0) return { ok: false, problems }

  const v = parsed.data
  const values: Record<string, unknown> = v
  const config: Config = {
    host: v.HOST,
    port: v.PORT,
    publicUrl: address?.ok ? address.url : null,
    databaseUrl: v.DATABASE_URL ?? null,
    dataDir: isAbsolute(v.HOLDPOINT_DATA_DIR) ? v.HOLDPOINT_DATA_DIR : resolve(cwd, v.HOLDPOINT_DATA_DIR),
    adminKey: v.HOLDPOINT_ADMIN_KEY ?? null,
    environment: v.HOLDPOINT_ENV,
    defaultExpirationMs,
    pollHoldMs: v.HOLDPOINT_POLL_HOLD_SECONDS * 1_000,
    heldPollsMax: v.HOLDPOINT_HELD_POLLS_MAX,
    limits: Object.fromEntries(limitNames.map((limit) => [limit, values[limitVariable(limit)]])) as Limits,
    gateAccess: v.HOLDPOINT_GATE_ACCESS,
    allowedHosts: v.HOLDPOINT_ALLOWED_HOSTS,
    trustProxy: trustedProxies(v.HOLDPOINT_TRUST_PROXY),
    trustedUserHeader: userHeader(v.HOLDPOINT_TRUSTED_USER_HEADER),
    alertWebhookUrl: v.HOLDPOINT_ALERT_WEBHOOK_URL ?? null,
    notifyWebhookUrl: v.HOLDPOINT_NOTIFY_WEBHOOK_URL ?? null,
    webhookSecret: v.HOLDPOINT_WEBHOOK_SECRET ?? null,
    retentionDays: v.HOLDPOINT_RETENTION_DAYS ?? null,
    forgetContentMinutes: v.HOLDPOINT_FORGET_CONTENT_MINUTES ?? null,
    vapidPublicKey: v.HOLDPOINT_VAPID_PUBLIC_KEY ?? null,
    vapidPrivateKey: v.HOLDPOINT_VAPID_PRIVATE_KEY ?? null,
    logLevel: v.LOG_LEVEL,
  }
  warnings.push(
    ...addressWarnings({
      publicUrl: config.publicUrl ?? publicUrlOf(config.host, config.port),
      host: config.host,
      probed: config.environment !== 'development',
    }),
  )
  if (config.gateAccess === 'open' && !isLoopbackHost(config.host))
    warnings.push(
      `The server listens on ${config.host} and HOLDPOINT_GATE_ACCESS is open: whoever reaches it can put a request into a session and poll one whose id they know. Set HOLDPOINT_GATE_ACCESS to capability (mixed while agents change over).`,
    )
  return { ok: true, config: Object.freeze(config), warnings }
}

/** The one knob that never fails a start: a typo in it must not take the gate away. */
function expiration(text: string | undefined, warnings: string[]): number {
  if (text === undefined) return defaultExpirationMinutes * minute
  const minutes = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isFinite(minutes) || minutes <= 0) {
    warnings.push(
      `ELICITATION_EXPIRATION_MINUTES is "${text}" and not a whole number above zero: it is ignored, requests expire after ${defaultExpirationMinutes} minutes`,
    )
    return defaultExpirationMinutes * minute
  }
  if (minutes > expirationMinutesMax) {
    warnings.push(
      `ELICITATION_EXPIRATION_MINUTES is ${text}: the most is ${expirationMinutesMax} (7 days), which is used`,
    )
    return expirationMinutesMax * minute
  }
  return minutes * minute
}

function userHeader(text: string | undefined): Config['trustedUserHeader'] {
  if (text === undefined) return null
  const [name, role = 'responder'] = text.split('=')
  return { name: name!.toLowerCase(), role: role as Role }
}

/** `true`, `false`, or the addresses and networks of the proxies, separated by commas. */
function trustedProxies(text: string | undefined): boolean | string[] {
  if (text === undefined || text === 'false') return false
  if (text === 'true') return true
  return list.parse(text)
}
