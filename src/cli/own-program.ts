import { join } from 'node:path'

/** This very program as a runtime starts it, whatever its PATH and its folder are. */
export const ownProgram: readonly [string, string] = [
  process.execPath,
  join(import.meta.dirname, '..', '..', 'bin', 'holdpoint.js'),
]
