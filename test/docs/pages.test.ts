import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { variableNames } from '../../src/config.ts'
import { startServer } from '../support/server.ts'
import { readPage, root, tableOf } from './support/markdown.ts'

const names = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md']
const pages = new Map(
  [...names, ...globSync('docs/*.md', { cwd: root })].map((name) => [
    name,
    readFileSync(join(root, name), 'utf8'),
  ]),
)

/** As GitHub makes them of headings. */
function anchorsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

it('every link between the pages, and into the code, leads somewhere', () => {
  const broken: string[] = []
  for (const [name, page] of pages)
    for (const [, target] of page.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target!)) continue
      const [path, anchor] = target!.split('#')
      const file = path === '' ? name : join(dirname(name), path!)
      if (!existsSync(join(root, file))) broken.push(`${name}: ${target}`)
      else if (anchor && !anchorsOf(readFileSync(join(root, file), 'utf8')).includes(anchor))
        broken.push(`${name}: ${target}`)
    }
  expect(broken).toEqual([])
})

it('every variable that a page names is one, and the README names them all', () => {
  const ofClients = ['HOLDPOINT_URL', 'HOLDPOINT_API_KEY']
  const ofAgents = ['REQUEST_URL', 'POLL_URL', 'PREFER_HTTP_FALLBACK', 'TTL_MS', 'SESSION_ID'].map(
    (name) => `ELICITATION_${name}`,
  )
  const known = new Set([...variableNames, ...ofClients, ...ofAgents])
  const unknown: string[] = []
  for (const [name, page] of pages)
    for (const [variable] of page.matchAll(/\b(?:HOLDPOINT|ELICITATION)_[A-Z_]*[A-Z]\b(?!_)/g))
      if (!known.has(variable)) unknown.push(`${name}: ${variable}`)
  expect(unknown).toEqual([])
  const readme = pages.get('README.md')!
  expect(variableNames.filter((variable) => !readme.includes(`\`${variable}\``))).toEqual([])
})

it('every file that a page names is there', () => {
  const missing: string[] = []
  for (const row of tableOf(pages.get('ARCHITECTURE.md')!, 'another'))
    for (const [, file] of row.join(' ').matchAll(/`(\w[\w-]*\/[\w./-]*)`/g))
      if (
        !['src', 'src/elicitation', 'test'].some(
          (folder) => globSync(`${file}{,.test.ts}`, { cwd: join(root, folder) }).length,
        )
      )
        missing.push(`ARCHITECTURE.md: ${file}`)
  for (const [name, page] of pages)
    for (const [, file] of page.matchAll(/`((?:src|test|bench|demo|examples|docs|prisma)\/[\w./-]*)`/g))
      if (!existsSync(join(root, file!))) missing.push(`${name}: ${file}`)
  expect(missing).toEqual([])
})

it('operations.md speaks of metrics that there are, and of lines that the log has', async () => {
  const page = await readPage('docs/operations.md')
  await using server = await startServer()
  const { body } = await server.rest('GET', '/metrics')
  const metrics = page.match(/\b(?:holdpoint|nodejs)_[a-z_]+\b/g) ?? []
  expect(metrics.length).toBeGreaterThan(10)
  expect(metrics.filter((metric) => !body.includes(metric))).toEqual([])

  const sources = globSync('src/**/*.ts', { cwd: root, exclude: (path) => path.includes('generated') })
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n')
  const lines = tableOf(page, 'the log says').map(([line]) => line!)
  expect(lines.length).toBeGreaterThan(5)
  expect(lines.filter((line) => !sources.includes(line))).toEqual([])
})
