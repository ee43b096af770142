import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Runtime } from '../runner/runtime.ts'
import { type Api, createApi } from './api.ts'
import { bridgedConfig } from './bridged-config.ts'
import { findTrustWarning } from './codex-trust.ts'
import { changedLines, isTracked, projectConfigs, replaceConfig, undoConfig } from './config-file.ts'
import { findConnection } from './connection.ts'
import type { PreparedLaunch } from './documents.ts'
import { findSession, prepareLaunch } from './launch.ts'
import { exitCodes, Problem } from './problem.ts'
import { readDotenv } from './session-dotenv.ts'
import { sayJson, type Terminal } from './terminal.ts'

export interface PrepareOptions {
  session?: string
  runtime?: Runtime
  /** Puts the bridge before each stdio server. */
  bridge?: boolean
  dryRun?: boolean
  undo?: boolean
  force?: boolean
  json?: boolean
}

interface PreparedFile {
  path: string
  changed: boolean
  before: string
  after: string
}

/** Writes the gate into the runtimes' config files of a folder, or takes it out again. */
export async function prepare(
  options: PrepareOptions,
  folder: string | undefined,
  terminal: Terminal,
): Promise<number> {
  const directory = resolve(terminal.cwd, folder ?? '.')
  if (options.undo) return undo(options, directory, terminal)
  if (options.session === undefined)
    throw new Problem('Say for which session: holdpoint prepare --session ID', exitCodes.usage)
  const api = createApi(await findConnection(terminal.environment))
  const session = await findSession(api, options.session)
  const only =
    options.runtime ?? (session.runtime === 'OTHER' ? null : (session.runtime.toLowerCase() as Runtime))

  const { files, launch, warnings } = await prepareFiles(api, {
    sessionId: session.id,
    directory,
    only,
    withBridge: options.bridge === true,
    dryRun: options.dryRun === true,
    terminal,
  })
  if (!options.dryRun) {
    for (const { path, changed, after } of files) {
      if (!changed) continue
      await replaceConfig(terminal.environment, path, after)
      if (isTracked(path))
        warnings.push(
          `${path} is under version control and now holds an address of this one session: do not commit it. "holdpoint prepare --undo" takes it out.`,
        )
    }
  }

  if (options.json)
    sayJson(terminal, {
      files: files.map(({ path, changed }) => ({ path, changed })),
      written: !options.dryRun,
      env: Object.fromEntries(launch.env.map(({ name, value }) => [name, value])),
      systemPrompt: launch.systemPrompt,
      warnings,
    })
  else {
    for (const { path, changed, before, after } of files) {
      const verb = options.dryRun ? 'would be rewritten' : 'rewritten'
      terminal.say(`${path}: ${changed ? verb : 'as it was'}`)
      if (options.dryRun && changed) for (const line of changedLines(before, after)) terminal.say(`  ${line}`)
    }
    for (const warning of warnings) terminal.note(`holdpoint: ${warning}`)
  }
  return exitCodes.done
}

async function prepareFiles(
  api: Api,
  {
    sessionId,
    directory,
    only,
    withBridge,
    dryRun,
    terminal,
  }: {
    sessionId: string
    directory: string
    only: Runtime | null
    withBridge: boolean
    dryRun: boolean
    terminal: Terminal
  },
): Promise<{ files: PreparedFile[]; launch: PreparedLaunch; warnings: string[] }> {
  const dotenv = await readDotenv(directory)
  const candidates = projectConfigs.filter(({ runtime }) => only === null || runtime === only)
  const files: PreparedFile[] = []
  const warnings = new Set<string>()
  let launch: PreparedLaunch | null = null
  for (const { path: name, runtime, format } of candidates) {
    const path = join(directory, name)
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR')
        warnings.add(`${path} could not be read (${error.code}) and is left as it is.`)
      return null
    })
    if (bytes === null) continue
    const before = bytes.toString('utf8')
    if (!Buffer.from(before).equals(bytes)) {
      warnings.add(
        `${path} is not UTF-8 text and is left as it is, so its servers do not know this session's gate.`,
      )
      continue
    }
    const mcpConfig = { format, text: before }
    launch = await prepareLaunch(api, { sessionId, runtime, mcpConfig, dotenv, dryRun })
    const prepared = launch.mcpConfig ?? before
    const bridged = withBridge ? bridgedConfig(prepared, { runtime, format }) : null
    for (const warning of bridged?.warnings ?? []) warnings.add(`${path}: ${warning}`)
    const after = bridged?.text ?? prepared
    files.push({ path, changed: after !== before, before, after })
    for (const warning of launch.warnings) warnings.add(warning)
    const untrusted = runtime === 'codex' ? await findTrustWarning(directory, terminal.environment) : null
    if (untrusted !== null) warnings.add(untrusted)
  }
  if (launch === null)
    throw new Problem(
      `${directory} has no config that could be prepared (${candidates.map(({ path }) => path).join(', ')}). ` +
        `"holdpoint env --session ${sessionId}" prints the variables to start an agent with.`,
    )
  return { files, launch, warnings: [...warnings] }
}

async function undo({ force, json }: PrepareOptions, directory: string, terminal: Terminal): Promise<number> {
  const results = []
  for (const { path: name } of projectConfigs) {
    const path = join(directory, name)
    const result = await undoConfig(terminal.environment, path, { force })
    if (result !== 'nothing to undo') results.push({ path, result })
  }
  const changed = results.filter(({ result }) => result === 'changed since')
  if (json) sayJson(terminal, { files: results })
  else {
    for (const { path, result } of results) if (result === 'restored') terminal.say(`${path}: restored`)
    for (const { path } of changed)
      terminal.note(
        `holdpoint: ${path} was changed after it was prepared and is left as it is. --force restores what it was before, and drops that change.`,
      )
    if (results.length === 0) terminal.say(`Nothing in ${directory} was prepared by this user.`)
  }
  return changed.length > 0 ? exitCodes.failed : exitCodes.done
}
