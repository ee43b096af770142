import { collectionUrl } from '../../../src/gate/address.ts'
import type { Environment } from '../../../src/gate/environment.ts'
import type { ConfigFormat } from '../../../src/gate/runtime-config/config-document.ts'
import {
  type ConfigRuntime,
  type RewrittenConfig,
  rewriteRuntimeConfig,
} from '../../../src/gate/runtime-config/rewrite.ts'
import { spawnEnvironment } from '../../../src/gate/spawn-environment.ts'

export const ttlMs = 3_600_000

/** The address that the launch below gives to a server; unlike a real token, it can be told from the name. */
export function addressOf(serverName: string): string {
  return collectionUrl('https://gate.example', Buffer.from(serverName).toString('base64url') || 'nameless')
}

export function environmentOf(serverName: string): Environment {
  return spawnEnvironment({
    collectionUrl: addressOf(serverName),
    expirationMs: ttlMs,
    sessionId: '0198c5f0-0000-7000-8000-000000000001',
    dotenv: {},
  })
}

/** Prepares a config as a launch does: a session with an hour for its answers and an address for each server. */
export function rewrite(
  runtime: ConfigRuntime,
  format: ConfigFormat,
  text: string,
  dotenv: Environment = {},
): RewrittenConfig {
  return rewriteRuntimeConfig({ runtime, format, text, environmentFor: environmentOf, dotenv, ttlMs })
}
