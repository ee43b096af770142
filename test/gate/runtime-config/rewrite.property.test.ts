import fc from 'fast-check'
import { getNodeValue, parseTree } from 'jsonc-parser'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import type { ConfigFormat } from '../../../src/gate/runtime-config/config-document.ts'
import type { ConfigRuntime, RewrittenServer } from '../../../src/gate/runtime-config/rewrite.ts'
import { type ConfigText, crlf, jsonConfig, tomlConfig } from './config-texts.ts'
import { environmentOf, rewrite } from './launch.ts'

const hour = 3_900_000

/** The texts are small as they come; shrinking one that was drawn piece by piece takes gigabytes. */
const quick = { endOnFailure: true }

/** How each format's runtime names things, for the model below. */
const layouts = {
  JSON: { runtime: 'claude_code', servers: 'mcpServers', timeout: 'timeout', unitMs: 1, parse: readJson },
  TOML: {
    runtime: 'codex',
    servers: 'mcp_servers',
    timeout: 'tool_timeout_sec',
    unitMs: 1000,
    parse: readToml,
  },
} as const satisfies Record<ConfigFormat, { runtime: ConfigRuntime; [key: string]: unknown }>

type Plain = Record<string, unknown>

function readJson(text: string): unknown {
  const root = parseTree(text.replace(/^\uFEFF/, ''), [], { allowTrailingComma: true })
  return root && getNodeValue(root)
}

function readToml(text: string): unknown {
  return parse(text, { integersAsBigInt: 'asNeeded' })
}

/** Changes a parsed config as the rewriting has to, on plain objects: there is no text to be careful with here. */
function model(format: ConfigFormat, value: unknown): unknown {
  const { servers, timeout, unitMs } = layouts[format]
  for (const [name, entry] of Object.entries(plain(plain(value)?.[servers]) ?? {})) {
    const server = plain(entry)
    if (server === undefined || typeof server.command !== 'string') continue
    if (server.env !== undefined && plain(server.env) === undefined) continue
    const variables = environmentOf(name)
    server.env = Object.assign(plain(server.env) ?? Object.create(null), variables)
    if (Number(server[timeout] ?? 0) * unitMs < hour) server[timeout] = hour / unitMs
    if (format === 'TOML' && Array.isArray(server.env_vars) && server.env_vars.length > 0) {
      const named = (rule: unknown) => String(typeof rule === 'string' ? rule : plain(rule)?.name)
      server.env_vars = server.env_vars.filter((rule) => !Object.hasOwn(variables, named(rule)))
      if ((server.env_vars as unknown[]).length === 0) delete server.env_vars
    }
  }
  return value
}

function plain(value: unknown): Plain | undefined {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null
    ? (value as Plain)
    : undefined
}

/** A form in which equal values are equal texts, whatever the order of names and whatever the names. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => {
    if (typeof one === 'bigint') return `${one}n`
    const object = plain(one)
    return object ? ['table', ...Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1))] : one
  })
}

/** Whether all of `part` stands in `whole` in its order: nothing of it was lost. */
function isWithin(part: string, whole: string): boolean {
  let at = 0
  for (const character of whole) if (character === part[at]) at++
  return at === part.length
}

function byName(servers: RewrittenServer[]): RewrittenServer[] {
  return servers.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function holdsFor(format: ConfigFormat, given: ConfigText): void {
  const { runtime } = layouts[format]
  const read = layouts[format].parse
  const result = rewrite(runtime, format, given.text)
  const wanted = model(format, read(given.text))
  expect(canonical(read(result.text))).toBe(canonical(wanted))
  expect(result.warnings.filter((warning) => !warning.includes('"env" is not a table'))).toEqual([])
  expect(result.changed).toBe(result.text !== given.text)
  for (const comment of given.comments) expect(result.text.split(comment)).toHaveLength(2)
  expect(result.text.startsWith('\uFEFF')).toBe(given.text.startsWith('\uFEFF'))
  if (/\r\n/.test(given.text)) expect(result.text).not.toMatch(/[^\r]\n/)

  const again = rewrite(runtime, format, result.text)
  expect(again.text).toBe(result.text)
  expect(again.changed).toBe(false)
  // In TOML a list that went away may have been the first to name its server.
  expect(byName(again.servers)).toEqual(byName(result.servers))
}

const mark = (config: ConfigText): ConfigText => ({ ...config, text: `\uFEFF${config.text}` })
const json = { servers: 'mcpServers', env: 'env', timeout: 'timeout' }

// Hundreds of configs each: seconds on an idle machine, more on a busy one.
describe.each<ConfigFormat>(['JSON', 'TOML'])(
  'rewriting any %s config, however it is written',
  { timeout: 120_000 },
  (format) => {
    const write = (draw: fc.GeneratorValue) => (format === 'JSON' ? jsonConfig(draw, json) : tomlConfig(draw))

    it('changes what it has to and nothing else, keeps every comment, and is the same done twice', () => {
      fc.assert(
        fc.property(fc.gen(), (draw) => holdsFor(format, write(draw))),
        { ...quick, numRuns: 600 },
      )
    })

    it('does so with CRLF line endings and a byte order mark', () => {
      fc.assert(
        fc.property(fc.gen(), fc.boolean(), (draw, marked) => {
          const config = crlf(write(draw))
          holdsFor(format, marked ? mark(config) : config)
        }),
        { ...quick, numRuns: 200 },
      )
    })

    it('leaves a text that is cut off or garbled as it was, or finds it whole', () => {
      const { runtime } = layouts[format]
      fc.assert(
        fc.property(fc.gen(), fc.nat(), fc.string({ maxLength: 3 }), (draw, seed, noise) => {
          const { text } = write(draw)
          const at = seed % (text.length + 1)
          for (const broken of [text.slice(0, at), text.slice(0, at) + noise + text.slice(at)]) {
            const result = rewrite(runtime, format, broken)
            if (!result.changed) expect(result.text).toBe(broken)
            else
              expect(canonical(layouts[format].parse(result.text))).toBe(
                canonical(model(format, layouts[format].parse(broken))),
              )
          }
        }),
        { ...quick, numRuns: 300 },
      )
    })
  },
)

it('only ever adds to a config that has nothing of ours yet', () => {
  fc.assert(
    fc.property(fc.gen(), (draw) => {
      const given = jsonConfig(draw, json)
      fc.pre(!given.text.includes('ELICITATION_') && !given.text.includes('"timeout"'))
      expect(isWithin(given.text, rewrite('claude_code', 'JSON', given.text).text)).toBe(true)
    }),
    quick,
  )
})
