import { access, constants, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { delimiter, join } from 'node:path'
import pg from 'pg'
import { launcherKeyFile } from '../auth/launcher-key.ts'
import { errorText } from '../base/error-text.ts'
import { redact } from '../base/redact.ts'
import { readConfig } from '../config.ts'
import { MigrationError, pendingMigrations } from '../database/migrate.ts'
import { probe } from '../gate/probe.ts'
import { createApi } from './api.ts'
import { findTrustWarning } from './codex-trust.ts'
import { type Connection, dataFolder, findConnection, type Variables } from './connection.ts'
import { type LaunchSiteData, launchSiteDocument, type ViewerData, viewerDocument } from './documents.ts'
import { exitCodes } from './problem.ts'
import { quotedLine, sayJson, type Terminal } from './terminal.ts'

export interface Finding {
  check: string
  state: 'ok' | 'warning' | 'broken'
  detail: string
  /** What to do about it. */
  advice?: string
}

const nodeMajorMin = 24
const httpWithinMs = 5_000

/** Looks at everything that has to work before an agent reaches a person, and says of what does not what to do. */
export async function doctor({ json }: { json?: boolean }, terminal: Terminal): Promise<number> {
  const { environment, cwd } = terminal
  const connection = await findConnection(environment).catch((error: Error) => error)
  const url = connection instanceof Error ? (environment.HOLDPOINT_URL?.trim() ?? null) : connection.url
  const findings: Finding[] = [
    checkNode(),
    ...checkConfig(environment, cwd),
    await checkDataFolder(environment),
    ...(await checkDatabase(environment)),
    ...(await checkServer(url)),
    ...(connection instanceof Error
      ? [{ check: 'key', state: 'broken', detail: connection.message } as const]
      : await checkKeyAndGate(connection)),
    ...(await checkRuntimes(environment, cwd)),
  ]
  if (json) sayJson(terminal, findings)
  else
    for (const { check, state, detail, advice } of findings) {
      terminal.say(`${marks[state]} ${check.padEnd(12)} ${quotedLine(detail)}`)
      if (advice !== undefined) terminal.say(`  ${''.padEnd(12)} → ${quotedLine(advice)}`)
    }
  return findings.some(({ state }) => state === 'broken') ? exitCodes.failed : exitCodes.done
}

const marks: Record<Finding['state'], string> = { ok: '✓', warning: '!', broken: '✗' }

function checkNode(): Finding {
  const major = Number(process.versions.node.split('.')[0])
  return major >= nodeMajorMin
    ? { check: 'node', state: 'ok', detail: process.version }
    : {
        check: 'node',
        state: 'broken',
        detail: `${process.version} is too old`,
        advice: `Run "npm ci" in Holdpoint's folder, which brings Node ${nodeMajorMin} along, or install it.`,
      }
}

function checkConfig(environment: Variables, cwd: string): Finding[] {
  const result = readConfig({ ...environment, HOLDPOINT_DATA_DIR: dataFolder(environment) }, cwd)
  if (!result.ok)
    return result.problems.map((problem) => ({
      check: 'config',
      state: 'broken',
      detail: problem,
      advice: 'A server with this environment would not start. Correct the variable.',
    }))
  if (result.warnings.length === 0)
    return [{ check: 'config', state: 'ok', detail: 'no fault in this environment' }]
  return result.warnings.map((warning) => ({ check: 'config', state: 'warning', detail: warning }))
}

async function checkDataFolder(environment: Variables): Promise<Finding> {
  const folder = dataFolder(environment)
  const check = 'data folder'
  const key = await stat(join(folder, launcherKeyFile)).catch((error: NodeJS.ErrnoException) => error)
  if (key instanceof Error)
    return {
      check,
      state: 'warning',
      detail: `${folder} holds no launcher key that this user can read (${key.code})`,
      advice: 'Launching from this machine needs HOLDPOINT_API_KEY, or a server started here by this user.',
    }
  return (key.mode & 0o077) === 0
    ? { check, state: 'ok', detail: folder }
    : {
        check,
        state: 'broken',
        detail: `${join(folder, launcherKeyFile)} can be read by other users`,
        advice:
          'Restart the server, which takes that right away, and revoke the key if the machine has users you do not trust.',
      }
}

/** Only one that is named: the embedded one belongs to the server, whose /readyz tells of it. */
async function checkDatabase(environment: Variables): Promise<Finding[]> {
  const connectionString = environment.DATABASE_URL?.trim()
  if (!connectionString) return []
  try {
    const pending = await pendingMigrations(connectionString)
    return [
      { check: 'database', state: 'ok', detail: 'DATABASE_URL answers' },
      pending.length === 0
        ? { check: 'migrations', state: 'ok', detail: 'all applied' }
        : {
            check: 'migrations',
            state: 'warning',
            detail: `not applied yet: ${pending.join(', ')}`,
            advice: 'The next start of the server applies them.',
          },
      ...(pending.length === 0 ? [await checkJobs(connectionString)] : []),
    ]
  } catch (error) {
    const check = error instanceof MigrationError && error.code !== 'UNREACHABLE' ? 'migrations' : 'database'
    return [{ check, state: 'broken', detail: redact(errorText(error)) }]
  }
}

/** A tick that has been waiting for minutes says that no server works on the queue. */
async function checkJobs(connectionString: string): Promise<Finding> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: httpWithinMs,
    application_name: 'holdpoint doctor',
  })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string; minutes: number }>(overdueJobs)
    if (rows.length === 0) return { check: 'jobs', state: 'ok', detail: 'nothing is overdue' }
    return {
      check: 'jobs',
      state: 'broken',
      detail: `overdue: ${rows.map(({ name, minutes }) => `${name} for ${minutes} min`).join(', ')}`,
      advice:
        'No server works on the queue: requests expire late and nobody is paged. Start one on this database, and look into its log.',
    }
  } catch (error) {
    // The queue's tables are made by the first start.
    if (error instanceof pg.DatabaseError && (error.code === '42P01' || error.code === '3F000'))
      return {
        check: 'jobs',
        state: 'warning',
        detail: 'no server has run on this database yet',
        advice: 'Start one: holdpoint serve.',
      }
    throw error
  } finally {
    await client.end()
  }
}

const overdueJobs = `
  select name, floor(extract(epoch from now() - min(start_after)) / 60)::int as minutes from pgboss.job
  where state in ('created', 'retry') and start_after < now() - interval '2 minutes' group by name order by name`

async function checkServer(url: string | null): Promise<Finding[]> {
  if (url === null) return []
  try {
    const response = await fetch(`${url}/readyz`, {
      signal: AbortSignal.timeout(httpWithinMs),
      redirect: 'manual',
    })
    const ready: { ready?: boolean; database?: string; jobs?: string; draining?: boolean } =
      await response.json()
    if (typeof ready.ready !== 'boolean')
      throw new Error(`HTTP ${response.status} is no answer of a Holdpoint server`)
    return [
      ready.draining
        ? { check: 'server', state: 'warning', detail: `${url} is going away` }
        : { check: 'server', state: 'ok', detail: url },
      serverPart('database', ready.database, 'See the log of the server, and that its PostgreSQL runs.'),
      serverPart(
        'jobs',
        ready.jobs,
        'Requests expire late and nobody is paged. Restart the server; if that does not help, see its log.',
      ),
    ]
  } catch (error) {
    const result = await probe(url)
    const why = result.reachable ? errorText(error) : result.detail
    return [
      {
        check: 'server',
        state: 'broken',
        detail: `${url}: ${why}`,
        advice: 'Start it (holdpoint serve), or set HOLDPOINT_URL to where it is.',
      },
    ]
  }
}

function serverPart(check: string, state: string | undefined, advice: string): Finding {
  const name = `${check} there`
  return state === 'ok'
    ? { check: name, state: 'ok', detail: 'ok' }
    : { check: name, state: 'broken', detail: state ?? 'unknown', advice }
}

async function checkKeyAndGate(connection: Connection): Promise<Finding[]> {
  const api = createApi(connection)
  try {
    const { viewer } = await api.request<ViewerData>(viewerDocument)
    const key: Finding = {
      check: 'key',
      state: 'ok',
      detail: `${viewer.name} (${viewer.role.toLowerCase()})${connection.key === 'launcher' ? ', out of the data folder' : ''}`,
    }
    return [key, ...(await checkGate((await api.request<LaunchSiteData>(launchSiteDocument)).gate))]
  } catch (error) {
    return [{ check: 'key', state: 'broken', detail: errorText(error) }]
  }
}

async function checkGate(gate: LaunchSiteData['gate']): Promise<Finding[]> {
  const seen = await probe(gate.url)
  const findings: Finding[] = [
    seen.reachable
      ? {
          check: 'gate',
          state: 'ok',
          detail: `${gate.url} can be reached from ${hostname()} (${seen.detail})`,
        }
      : {
          check: 'gate',
          state: 'broken',
          detail: `${gate.url} cannot be reached from ${hostname()}: ${seen.detail}`,
          advice:
            'Agents that run here are told "not approved" for everything, and nobody is asked. Set PUBLIC_URL of the server to an address that this machine can reach.',
        },
  ]
  if (gate.reachable === false)
    findings.push({
      check: 'gate',
      state: 'broken',
      detail: `the server itself cannot reach ${gate.url}`,
      advice: 'See the page Gate of the dashboard, and PUBLIC_URL of the server.',
    })
  for (const { host, reachable } of gate.hosts)
    if (reachable === false && host !== hostname())
      findings.push({
        check: 'gate',
        state: 'warning',
        detail: `agents on ${host} cannot reach ${gate.url}`,
        advice: `Run "holdpoint doctor" on ${host}.`,
      })
  return findings
}

/** Which agents could be started here, and what would keep them from the gate. */
async function checkRuntimes(environment: Variables, cwd: string): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const program of ['claude', 'codex']) {
    const path = await findProgram(program, environment)
    if (path !== null) findings.push({ check: program, state: 'ok', detail: path })
  }
  if (await mayAccess(join(cwd, '.codex', 'config.toml'))) {
    const warning = await findTrustWarning(cwd, environment)
    if (warning !== null) findings.push({ check: 'codex', state: 'warning', detail: warning })
  }
  return findings
}

async function findProgram(name: string, { PATH = '' }: Variables): Promise<string | null> {
  for (const folder of PATH.split(delimiter)) {
    const path = join(folder, name)
    if (folder !== '' && (await mayAccess(path, constants.X_OK))) return path
  }
  return null
}

function mayAccess(path: string, mode: number = constants.F_OK): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  )
}
