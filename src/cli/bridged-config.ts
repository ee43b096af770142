import { join } from 'node:path'
import { type BridgedConfig, bridgeRuntimeConfig } from '../gate/runtime-config/bridge.ts'
import type { Runtime } from '../runner/runtime.ts'

/** This very program as a runtime starts it, whatever its PATH is. */
const bridge = [process.execPath, join(import.meta.dirname, 'holdpoint.ts'), 'bridge'] as const

/** A runtime's MCP config with the bridge before each of its stdio servers. */
export function bridgedConfig(
  text: string,
  { runtime, format }: { runtime: Runtime; format: 'json' | 'toml' },
): BridgedConfig {
  return bridgeRuntimeConfig({ runtime, format: format === 'toml' ? 'TOML' : 'JSON', text, bridge })
}
