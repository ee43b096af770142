import { gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'

/**
 * Prints what a first visit downloads, and fails the build when its scripts are over the budget: the entry, the page, and
 * everything that these import statically. `page` is the end of the page module's path.
 */
export function firstViewBudget(options: { page: string; gzipKilobytesMax: number }): Plugin {
  return {
    name: 'holdpoint:first-view-budget',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
      const roots = chunks.filter((chunk) => chunk.isEntry || chunk.facadeModuleId?.endsWith(options.page))
      const needed = new Set<string>()
      const visit = (fileName: string) => {
        if (needed.has(fileName)) return
        needed.add(fileName)
        const file = bundle[fileName]
        if (file?.type === 'chunk') for (const imported of file.imports) visit(imported)
      }
      for (const root of roots) visit(root.fileName)
      if (roots.length < 2) this.error(`The first view's page ${options.page} is not in the build.`)

      const kilobytes = (source: string | Uint8Array) => gzipSync(source).byteLength / 1024
      const scripts = chunks
        .filter((chunk) => needed.has(chunk.fileName))
        .reduce((sum, chunk) => sum + kilobytes(chunk.code), 0)
      const styles = Object.values(bundle)
        .filter((file) => file.type === 'asset' && file.fileName.endsWith('.css'))
        .reduce((sum, file) => sum + (file.type === 'asset' ? kilobytes(file.source) : 0), 0)
      console.log(
        `First view: ${scripts.toFixed(0)} KB of scripts; all styles ${styles.toFixed(0)} KB (gzipped)`,
      )
      if (scripts > options.gzipKilobytesMax) {
        this.error(
          `The first view needs ${scripts.toFixed(0)} KB of scripts, over the budget of ${options.gzipKilobytesMax} KB: import what it does not need with import().`,
        )
      }
    },
  }
}
