import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { linesOf, lineWriter } from '../src/bridge/lines.ts'
import { type Figure, printFigures } from './figure.ts'
import { median } from './harness.ts'
import { residentBytes } from './house.ts'

interface Client extends AsyncDisposable {
  pid: number
  /** Makes one call and waits for its reply. */
  call(text: string): Promise<void>
}

const server = [process.execPath, join(import.meta.dirname, 'bridge-server.ts')] as const
const bridge = [
  process.execPath,
  join(import.meta.dirname, '..', 'bin', 'holdpoint.js'),
  'bridge',
  '--',
] as const
const megabyte = 1024 * 1024

const calls = 3_000
const passedMb = 100

/** What the bridge costs a tool call that asks nobody: the same server with and without it, in turns. */
export async function measureBridge(): Promise<Figure[]> {
  await using direct = await connect(server)
  await using bridged = await connect([...bridge, ...server])
  const text = 'x'.repeat(500)
  const times: { direct: number; bridged: number }[] = []
  for (let i = 0; i < calls; i++)
    times.push({ direct: await timeOf(direct, text), bridged: await timeOf(bridged, text) })
  // What is compiled only now is not what a session of an agent sees.
  const warm = times.slice(Math.floor(calls / 10))
  const addedMs = median(warm.map(({ direct, bridged }) => bridged - direct))
  const figures: Figure[] = [
    {
      what: 'a tool call behind the bridge: what it adds at the median',
      ours: median(warm.map(({ bridged }) => bridged)),
      against: median(warm.map(({ direct }) => direct)),
      unit: 'ms',
      value: addedMs,
      spread: null,
      goal: { atMost: 1 },
    },
  ]

  const large = 'x'.repeat(megabyte)
  for (let passed = 0; passed < passedMb; passed++) await bridged.call(large)
  const before = await residentBytes(bridged.pid)
  for (let passed = 0; passed < passedMb; passed++) await bridged.call(large)
  const after = await residentBytes(bridged.pid)
  if (before !== null && after !== null)
    figures.push({
      what: `memory of the bridge after another ${passedMb} MB each way, against before`,
      ours: after / megabyte,
      against: before / megabyte,
      unit: 'MB',
      value: after / before,
      spread: null,
      goal: { atMost: 1.25 },
    })
  return figures
}

async function timeOf(client: Client, text: string): Promise<number> {
  const begun = performance.now()
  await client.call(text)
  return performance.now() - begun
}

async function connect([command, ...args]: readonly [string, ...string[]]): Promise<Client> {
  const child = spawn(command, args, {
    // Nobody listens there, and nobody is asked.
    env: {
      PATH: process.env.PATH,
      ELICITATION_REQUEST_URL: 'http://127.0.0.1:9',
      ELICITATION_SESSION_ID: 'bench',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = linesOf(child.stdout, 64 * megabyte)
  const writer = lineWriter(child.stdin)
  let id = 0
  async function request(method: string, params: object): Promise<void> {
    writer.write(JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }))
    const { value, done } = await lines.next()
    if (done || !value.includes(`"id":${id}`)) throw new Error(`${method} was answered with ${value}`)
  }
  const clientInfo = { name: 'bench', version: '1' }
  await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  return {
    pid: child.pid!,
    call: (text) => request('tools/call', { name: 'echo', arguments: { text } }),
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit')
      child.stdin.end()
      await exited
    },
  }
}

if (import.meta.main) printFigures(await measureBridge())
