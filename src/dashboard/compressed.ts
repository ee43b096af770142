import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'

/** Lays a gzipped copy beside each script and style, which the server hands to whoever takes it: a third of the bytes on a bad line. */
export function compressed(): Plugin {
  return {
    name: 'holdpoint:compressed',
    writeBundle({ dir }, bundle) {
      for (const fileName of Object.keys(bundle)) {
        if (!/\.(?:js|css)$/.test(fileName)) continue
        const file = join(dir!, fileName)
        writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
      }
    },
  }
}
