import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { adminKey, freePort } from '../support/server.ts'
import { type ServerProcess, spawnServer } from '../support/server-process.ts'
import { mcpServerFile, startAdminApi } from './support/admin-api.ts'
import { createProject, gone, holdpoint, isAlive, type Project, type Running } from './support/command.ts'
import { accept, command, sessionThat } from './support/session.ts'

// Each of these starts several programs, one after the other.
vi.setConfig({ testTimeout: 180_000, maxConcurrency: 3 })

const agents = join(import.meta.dirname, 'agents')

/** A database of its own, and servers on it. */
async function createHouse() {
  const database = await createTestDatabase()
  return {
    async serve(port?: number): Promise<ServerProcess> {
      const server = await spawnServer({ connectionString: database.connectionString, port })
      await server.ready
      return server
    },
    [Symbol.asyncDispose]: () => database.drop(),
  }
}

function run(server: ServerProcess, project: Project, args: string[]): Running {
  return holdpoint(['run', ...args], {
    environment: project.environment({
      HOLDPOINT_URL: server.url,
      HOLDPOINT_API_KEY: adminKey,
      AGENT_EXIT_CODE: '3',
    }),
    cwd: project.folder,
  })
}

const factsOf = (running: Running) =>
  Object.assign(
    {},
    ...running
      .out()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  )

/** Passes requests on, and cuts every connection that would become a WebSocket. */
async function startProxyWithoutUpgrades(
  target: string,
): Promise<{ url: string; refused(): number } & Disposable> {
  let refused = 0
  const proxy = createServer((incoming, answer) => {
    const { method, url, headers } = incoming
    const passed = request(`${target}${url}`, { method, headers }, (response) => {
      answer.writeHead(response.statusCode!, response.headers)
      response.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    incoming.pipe(passed)
  })
  proxy.on('upgrade', (_, socket) => {
    refused++
    socket.destroy()
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as { port: number }).port}`,
    refused: () => refused,
    [Symbol.dispose]() {
      proxy.closeAllConnections()
      proxy.close()
    },
  }
}

// Beside each other: most of it is waiting for a process to start or to be heard of.
describe.concurrent('while an agent runs', () => {
  test('a server that is replaced under a blocked agent costs it nothing', async () => {
    await using project = await createProject()
    await using house = await createHouse()
    using api = await startAdminApi()
    await using first = await house.serve()
    const config = join(project.folder, 'mcp.json')
    const entry = { command: process.execPath, args: [mcpServerFile], env: api.environment }
    await writeFile(config, JSON.stringify({ mcpServers: { admin: entry } }))
    const agent = [process.execPath, join(agents, 'claude-code.ts')]
    await using running = run(first, project, [
      '--runtime',
      'claude-code',
      '--mcp-config',
      config,
      '--',
      ...agent,
    ])
    const blocked = await sessionThat(first, ({ blockedOnElicitation }) => blockedOnElicitation)

    await using second = await house.serve(first.port)
    first.kill('SIGTERM')
    await first.exited
    expect(isAlive(factsOf(running).agent)).toBe(true)
    await accept(second, blocked.pendingElicitations[0]!.requestId)
    expect(await running.exited).toBe(3)
    expect(running.out()).toContain('The stand-in did it.')
  })

  test('one that is killed ends nothing, and what happened meanwhile is caught up with', async () => {
    await using project = await createProject()
    await using house = await createHouse()
    const port = await freePort()
    await using first = await house.serve(port)
    await using running = run(first, project, ['--', process.execPath, join(agents, 'idle.ts')])
    await running.said('"grandchild"')
    const { agent, grandchild } = factsOf(running)
    const { id } = await sessionThat(first, (session) => session.process?.pid === agent)

    await using elsewhere = await house.serve()
    first.kill('SIGKILL')
    await first.exited
    expect(await command(elsewhere, 'pauseSession', id)).toBe('PauseSessionSuccess')
    expect(isAlive(agent)).toBe(true)
    await using _again = await house.serve(port)
    await Promise.all([gone(agent), gone(grandchild)])
    expect(await running.exited).toBe(143)
    expect(running.err()).toContain('the session was paused by admin')
  })

  test('how it ended is reported as soon as the server is back', async () => {
    await using project = await createProject()
    await using house = await createHouse()
    const port = await freePort()
    await using first = await house.serve(port)
    await using running = run(first, project, ['--', process.execPath, join(agents, 'idle.ts')])
    await running.said('"grandchild"')
    const { agent } = factsOf(running)
    await sessionThat(first, (session) => session.process?.pid === agent)
    first.kill('SIGKILL')
    await first.exited

    process.kill(agent, 'SIGUSR2')
    await running.said('Trying again, to report how the agent ended')
    await using again = await house.serve(port)
    expect(await running.exited).toBe(3)
    await sessionThat(again, ({ status, process }) => status === 'FAILED' && process?.exitCode === 3)
  })

  test('a proxy that lets no WebSocket through does not keep a pause from it', async () => {
    await using project = await createProject()
    await using house = await createHouse()
    await using server = await house.serve()
    using proxy = await startProxyWithoutUpgrades(server.url)
    await using running = run({ ...server, url: proxy.url }, project, [
      '--',
      process.execPath,
      join(agents, 'idle.ts'),
    ])
    await running.said('"grandchild"')
    const { id } = await sessionThat(server, (session) => session.process?.pid === factsOf(running).agent)
    await command(server, 'pauseSession', id)
    expect(await running.exited).toBe(143)
    expect(proxy.refused()).toBeGreaterThan(0)
  })

  test('Ctrl-C gives up reporting, and says what is left to do', async () => {
    await using project = await createProject()
    await using house = await createHouse()
    await using first = await house.serve()
    await using running = run(first, project, ['--', process.execPath, join(agents, 'idle.ts')])
    await running.said('"grandchild"')
    first.kill('SIGKILL')
    await first.exited
    process.kill(factsOf(running).agent, 'SIGUSR2')
    await running.said('Trying again')
    running.kill('SIGINT')
    expect(await running.exited).toBe(3)
    expect(running.err()).toContain('could not be reported')
    expect(running.err()).toContain('pause or archive it')
  })
})
