import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chmod, chown, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { diff } from 'node:util'
import { writePrivateFile } from '../base/private-file.ts'
import { redact } from '../base/redact.ts'
import { environmentOf } from '../gate/environment.ts'
import { stateFolder } from '../runner/private-folder.ts'
import type { Runtime } from '../runner/runtime.ts'
import type { Variables } from './connection.ts'

/** Where runtimes look for their MCP config in a project. */
export const projectConfigs: readonly { path: string; runtime: Runtime; format: 'json' | 'toml' }[] = [
  { path: '.mcp.json', runtime: 'claude_code', format: 'json' },
  { path: '.codex/config.toml', runtime: 'codex', format: 'toml' },
  { path: '.gemini/settings.json', runtime: 'other', format: 'json' },
  { path: '.cursor/mcp.json', runtime: 'other', format: 'json' },
  { path: '.vscode/mcp.json', runtime: 'other', format: 'json' },
  { path: 'opencode.json', runtime: 'other', format: 'json' },
  { path: 'opencode.jsonc', runtime: 'other', format: 'json' },
]

/** What a file was before it was first prepared, and what it was made into last. */
interface UndoRecord {
  path: string
  /** The bytes, in base64: a file need not be text. */
  before: string
  afterDigest: string
}

export type Undone = 'restored' | 'nothing to undo' | 'changed since'

/** Puts a text in the place of a file in one step, keeping its permissions and what is needed to undo it. */
export async function replaceConfig(environment: Variables, path: string, text: string): Promise<void> {
  const file = await realpath(path)
  const bytes = await readFile(file)
  const record = await readRecord(environment, file)
  // Preparing again goes on from our own text: what is undone to is the text before that.
  const before = record?.afterDigest === digestOf(bytes) ? record.before : bytes.toString('base64')
  await writeRecord(environment, { path: file, before, afterDigest: digestOf(Buffer.from(text)) })
  await replace(file, text)
}

export async function undoConfig(
  environment: Variables,
  path: string,
  { force = false } = {},
): Promise<Undone> {
  const file = await realpath(path).catch(() => null)
  const record = file === null ? null : await readRecord(environment, file)
  if (file === null || record === null) return 'nothing to undo'
  if (!force && digestOf(await readFile(file)) !== record.afterDigest) return 'changed since'
  await replace(file, Buffer.from(record.before, 'base64'))
  await rm(recordFile(environment, file), { force: true })
  return 'restored'
}

/** The lines that go and come, without the secrets in them. */
export function changedLines(before: string, after: string): string[] {
  // It marks what only the first has with 1, and what only the second has with -1.
  return diff(after.split('\n'), before.split('\n')).flatMap(([operation, line]) =>
    operation === 0 ? [] : [`${operation < 0 ? '-' : '+'} ${redact(line)}`],
  )
}

/** Whether a file is under version control, where an address of one session has no place. */
export function isTracked(path: string): boolean {
  const { status } = spawnSync('git', ['ls-files', '--error-unmatch', '--', basename(path)], {
    cwd: dirname(path),
    stdio: 'ignore',
  })
  return status === 0
}

async function replace(file: string, content: string | Buffer): Promise<void> {
  const { mode, uid, gid } = await stat(file)
  const draft = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}`)
  try {
    await writeFile(draft, content, { mode: 0o600, flag: 'wx' })
    // Root that prepares another user's project leaves the file to that user.
    await chown(draft, uid, gid).catch(() => undefined)
    await chmod(draft, mode & 0o7777)
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

async function readRecord(environment: Variables, file: string): Promise<UndoRecord | null> {
  const text = await readFile(recordFile(environment, file), 'utf8').catch(() => null)
  return text === null ? null : JSON.parse(text)
}

async function writeRecord(environment: Variables, record: UndoRecord): Promise<void> {
  const file = recordFile(environment, record.path)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writePrivateFile(file, JSON.stringify(record))
}

/** Outside the project: the config holds credentials, and a copy of them must not be committed. */
function recordFile(environment: Variables, file: string): string {
  return join(stateFolder(environmentOf(environment)), 'undo', `${digestOf(Buffer.from(file))}.json`)
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
