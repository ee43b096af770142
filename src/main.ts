import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// A third off a start. Beside the code, as what is in there is trusted as much; and first, as only what comes later gains by it.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'holdpoint'))
await import('./serve.ts')
