import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

let ending: AsyncDisposableStack
let testDatabase: TestDatabase
let direct: Database
beforeEach(async () => {
  ending = new AsyncDisposableStack()
  testDatabase = ending.use(await createTestDatabase())
  direct = openDatabase({ connectionString: testDatabase.connectionString, connectionsMax: 2 })
  ending.defer(() => direct.close())
  await direct.query(sql`create table kept (id int primary key)`)
})
afterEach(() => ending.disposeAsync())

const idsKept = async () =>
  (await direct.query<{ id: number }>(sql`select id from kept order by id`)).map(({ id }) => id)

/** The database, behind something that may change what passes. */
async function through(change: {
  sent?: (bytes: Buffer) => Buffer
  answered?: (bytes: Buffer, to: Socket) => Buffer
}) {
  const { hostname, port } = new URL(testDatabase.connectionString)
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname)
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    client.on('data', (bytes: Buffer) => server.write(change.sent?.(bytes) ?? bytes))
    server.on('data', (bytes: Buffer) => client.write(change.answered?.(bytes, client) ?? bytes))
    client.on('close', () => server.destroy())
    server.on('close', () => client.destroy())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  ending.defer(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  const address = new URL(testDatabase.connectionString)
  address.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const database = openDatabase({ connectionString: address.href, connectionsMax: 1 })
  ending.defer(() => database.close())
  return database
}

it('keeps the order of its statements, whether they read or write first', async () => {
  await direct.transaction(async (tx) => {
    void tx.query(sql`insert into kept values (1)`)
    void tx.query(sql`insert into kept values (2)`)
    expect(await tx.query(sql`select id from kept order by id`)).toEqual([{ id: 1 }, { id: 2 }])
    void tx.query(sql`delete from kept where id = 1`)
    void tx.query(sql`insert into kept values (3)`)
  })
  expect(await idsKept()).toEqual([2, 3])
})

it('plans a statement once, by its indexes, also while there is hardly a row', async () => {
  await direct.query(sql`insert into kept values (1)`)
  await direct.transaction(async (tx) => {
    for (let i = 0; i < 3; i++) await tx.query(sql`select id from kept where id = any(${[i]}::int[])`)
    expect(
      await tx.query(sql`
        select generic_plans, custom_plans from pg_prepared_statements where statement like 'select id from kept where id = any(%'`),
    ).toEqual([{ genericPlans: 3n, customPlans: 0n }])
    const plan = await tx.query(sql`explain select id from kept where id = 1`)
    expect(JSON.stringify(plan)).toContain('Index')
  })
})

it('leaves nothing behind when it could not begin, whatever was sent along', async () => {
  const database = await through({
    sent: (bytes) => Buffer.from(bytes.toString('latin1').replace('begin; set', 'bogus; set'), 'latin1'),
  })
  const writesFirst = database.transaction(async (tx) => {
    void tx.query(sql`insert into kept values (1)`)
    await tx.query(sql`insert into kept values (2)`)
  })
  await expect(writesFirst).rejects.toThrow('bogus')
  const readsFirst = database.transaction(async (tx) => {
    await tx.query(sql`select id from kept for update`)
    void tx.query(sql`insert into kept values (3)`)
  })
  await expect(readsFirst).rejects.toThrow('bogus')
  expect(await idsKept()).toEqual([])
})

it('fails when its connection dies in the moment that it is handed out, and ends nothing else', async () => {
  const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])
  const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0'
  const fatal = Buffer.concat([
    Buffer.from([0x45, 0, 0, 0, fields.length + 4]),
    Buffer.from(fields, 'latin1'),
  ])
  let deaths = 3
  const database = await through({
    answered(bytes) {
      if (!bytes.includes(readyForQuery) || deaths === 0) return bytes
      deaths--
      return Buffer.concat([bytes, fatal])
    },
  })
  const attempt = () =>
    database.transaction(async (tx) => {
      await tx.query(sql`insert into kept values (1)`)
    })
  for (let i = 0; i < 3; i++) await expect(attempt()).rejects.toThrow()
  await attempt()
  expect(await idsKept()).toEqual([1])
})
