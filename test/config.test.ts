import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { configurableLimits, defaultLimits, limitNames, limitVariable } from '../src/base/limits.ts'
import { type Config, readConfig, variableNames } from '../src/config.ts'

function read(environment: Record<string, string>): { config: Config; warnings: string[] } {
  const result = readConfig(environment, '/srv/holdpoint')
  if (!result.ok) throw new Error(result.problems.join('\n'))
  return result
}

function problems(environment: Record<string, string>): string[] {
  const result = readConfig(environment, '/srv/holdpoint')
  return result.ok ? [] : result.problems
}

describe('the configuration', () => {
  it('needs nothing set', () => {
    const { config, warnings } = read({})
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 4010,
      publicUrl: null,
      databaseUrl: null,
      dataDir: '/srv/holdpoint/.holdpoint',
      environment: 'development',
      defaultExpirationMs: 60 * 60_000,
      pollHoldMs: 8_000,
      heldPollsMax: 20_000,
      limits: defaultLimits,
      gateAccess: 'open',
    })
    expect(warnings).toEqual([])
  })

  it('takes a blank variable for one that is not set', () => {
    expect(read({ PORT: ' ', PUBLIC_URL: '', HOLDPOINT_ADMIN_KEY: '' }).config).toMatchObject({
      port: 4010,
      publicUrl: null,
      adminKey: null,
    })
  })

  it('reports every problem at once, each by the name of its variable', () => {
    const found = problems({
      PORT: 'eighty',
      PUBLIC_URL: 'holdpoint.example',
      DATABASE_URL: 'mysql://x',
      HOLDPOINT_ADMIN_KEY: 'short',
      HOLDPOINT_ENV: 'prod',
      HOLDPOINT_GATE_ACCESS: 'closed',
      HOLDPOINT_POLL_HOLD_SECONDS: '61',
      LOG_LEVEL: 'loud',
    })
    for (const name of [
      'PORT',
      'PUBLIC_URL',
      'DATABASE_URL',
      'HOLDPOINT_ADMIN_KEY',
      'HOLDPOINT_ENV',
      'HOLDPOINT_GATE_ACCESS',
      'HOLDPOINT_POLL_HOLD_SECONDS',
      'LOG_LEVEL',
    ])
      expect(found.filter((problem) => problem.startsWith(name))).toHaveLength(1)
  })

  it.each(['0.0.0.0', '::'])('asks for PUBLIC_URL when HOST is %s', (HOST) => {
    expect(problems({ HOST })).toEqual([expect.stringContaining('PUBLIC_URL')])
    expect(problems({ HOST, PUBLIC_URL: 'https://holdpoint.example.com' })).toEqual([])
  })

  it('takes only addresses and networks for proxies', () => {
    expect(read({ HOLDPOINT_TRUST_PROXY: 'loopback, 10.0.0.0/8,fd00::/8' }).config.trustProxy).toEqual([
      'loopback',
      '10.0.0.0/8',
      'fd00::/8',
    ])
    for (const HOLDPOINT_TRUST_PROXY of ['yes', 'proxy.example', '10.0.0.0/99'])
      expect(problems({ HOLDPOINT_TRUST_PROXY })).toEqual([expect.stringContaining('HOLDPOINT_TRUST_PROXY')])
  })

  it('takes only names for allowed hosts', () => {
    const hosts = ['gate.example.org', 'gate:8080', '[fd00::1]']
    expect(read({ HOLDPOINT_ALLOWED_HOSTS: hosts.join(', ') }).config.allowedHosts).toEqual(hosts)
    for (const HOLDPOINT_ALLOWED_HOSTS of ['http://gate', 'gate/path', 'gate.example.org, *'])
      expect(problems({ HOLDPOINT_ALLOWED_HOSTS })).toEqual([
        expect.stringContaining('HOLDPOINT_ALLOWED_HOSTS'),
      ])
  })

  it('drops the slash at the end of PUBLIC_URL', () => {
    expect(read({ PUBLIC_URL: 'https://holdpoint.example.com/' }).config.publicUrl).toBe(
      'https://holdpoint.example.com',
    )
  })

  it('warns of an open gate that listens beyond loopback', () => {
    const wide = { HOST: '192.0.2.7', HOLDPOINT_ENV: 'production' }
    expect(read(wide).warnings).toEqual([expect.stringContaining('HOLDPOINT_GATE_ACCESS')])
    expect(read({ ...wide, HOLDPOINT_GATE_ACCESS: 'capability' }).warnings).toEqual([])
  })
})

describe('a limit', () => {
  it.each(limitNames)('%s is set by a variable of its own, within bounds', (limit) => {
    const variable = limitVariable(limit)
    const { max } = configurableLimits[limit]
    for (const value of [1, max])
      expect(read({ [variable]: String(value) }).config.limits).toEqual({ ...defaultLimits, [limit]: value })
    for (const value of ['0', '-1', 'many', '1.5', String(max + 1)])
      expect(problems({ [variable]: value })).toEqual([`${variable} must be a whole number from 1 to ${max}`])
  })

  it('is in the README with its default, as is every other variable', async () => {
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
    const rows = readme.split('\n').filter((line) => line.startsWith('| `'))
    for (const limit of limitNames)
      expect(
        rows.filter((row) => row.startsWith(`| \`${limitVariable(limit)}\` | ${defaultLimits[limit]} |`)),
      ).toHaveLength(1)
    for (const variable of variableNames) expect(rows.join('\n')).toContain(`\`${variable}\``)
  })
})

describe('ELICITATION_EXPIRATION_MINUTES never fails a start', () => {
  it.each([
    ['5', 5, 0],
    ['10080', 10_080, 0],
    ['10081', 10_080, 1],
    ['0', 60, 1],
    ['-5', 60, 1],
    ['2.5', 60, 1],
    ['an hour', 60, 1],
    ['1e3', 60, 1],
    ['', 60, 0],
  ])('%j is %i minutes, with %i warnings', (text, minutes, warned) => {
    const { config, warnings } = read({ ELICITATION_EXPIRATION_MINUTES: text })
    expect(config.defaultExpirationMs).toBe(minutes * 60_000)
    expect(warnings).toHaveLength(warned)
  })
})
