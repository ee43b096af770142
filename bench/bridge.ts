import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { linesOf, lineWriter } from '../src/bridge/lines.ts'
import { median } from './harness.ts'

/** What the bridge costs a tool call that asks nobody. */
export interface BridgeFigures {
  /** What a call takes at the median, in ms. */
  directMs: number
  bridgedMs: number
  /** What the bridge adds at the median, in ms: the goal is at most 1. */
  addedMs: number
  /** The memory of the bridge in MB, at its least, while `passedMb` went through it each way, once and again; null where the system does not tell. */
  residentMb: { before: number; after: number } | null
  passedMb: number
}

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

/** Calls the same server with and without the bridge in turns, so that a noisy moment of the machine hits both. */
export async function measureBridge({ calls = 3_000, passedMb = 100 } = {}): Promise<BridgeFigures> {
  await using direct = await connect(server)
  await using bridged = await connect([...bridge, ...server])
  const text = 'x'.repeat(500)
  const times: { direct: number; bridged: number }[] = []
  for (let i = 0; i < calls; i++)
    times.push({ direct: await timeOf(direct, text), bridged: await timeOf(bridged, text) })
  // What is compiled only now is not what a session of an agent sees.
  const warm = times.slice(Math.floor(calls / 10))

  const large = 'x'.repeat(megabyte)
  const pass = async () => {
    const samples: number[] = []
    for (let passed = 0; passed < passedMb; passed++) {
      await bridged.call(large)
      if (passed >= passedMb / 2) samples.push((await residentMb(bridged.pid)) ?? Number.NaN)
    }
    // Without what only waits to be collected.
    return Math.min(...samples)
  }
  // The heap takes its size by the first of them.
  const before = await pass()
  const after = await pass()
  return {
    directMs: median(warm.map(({ direct }) => direct)),
    bridgedMs: median(warm.map(({ bridged }) => bridged)),
    addedMs: median(warm.map(({ direct, bridged }) => bridged - direct)),
    residentMb: Number.isNaN(before + after) ? null : { before, after },
    passedMb,
  }
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

/** Where the system tells, which is Linux. */
async function residentMb(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(status)?.[1]
  return kilobytes === undefined ? null : Math.round(Number(kilobytes) / 1_024)
}

if (import.meta.main) {
  const { directMs, bridgedMs, addedMs, residentMb: memory, passedMb } = await measureBridge()
  console.table([
    { what: 'a tool call without the bridge', median: `${directMs.toFixed(3)} ms`, goal: '' },
    { what: 'behind the bridge', median: `${bridgedMs.toFixed(3)} ms`, goal: '' },
    { what: 'added', median: `${addedMs.toFixed(3)} ms`, goal: 'at most 1 ms' },
  ])
  console.log(
    memory === null
      ? 'This system does not tell how much memory a process takes.'
      : `The bridge took ${memory.before} MB while ${passedMb} MB went through it each way, and ${memory.after} MB while as much did again.`,
  )
}
