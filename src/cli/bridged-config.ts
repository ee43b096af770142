import { type BridgedConfig, bridgeRuntimeConfig } from '../gate/runtime-config/bridge.ts'
import type { Runtime } from '../runner/runtime.ts'
import { ownProgram } from './own-program.ts'

/** A runtime's MCP config with the bridge before each of its stdio servers. */
export function bridgedConfig(
  text: string,
  { runtime, format }: { runtime: Runtime; format: 'json' | 'toml' },
): BridgedConfig {
  return bridgeRuntimeConfig({
    runtime,
    format: format === 'toml' ? 'TOML' : 'JSON',
    text,
    bridge: [...ownProgram, 'bridge'],
  })
}
