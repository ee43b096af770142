import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { pino } from 'pino'
import { type App, startApp } from '../../src/app.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { createTestDatabase } from './database.ts'

export const adminKey = 'an-admin-key-for-tests'

/** A server as its clients see it. */
export interface TestClient {
  url: string
  rest(method: string, path: string, options?: RestOptions): Promise<RestResponse>
  graphql<T = Record<string, any>>(query: string, variables?: object, key?: string | null): Promise<T>
  /** The whole GraphQL answer, errors too. */
  graphqlRaw(query: string, variables?: object, key?: string | null): Promise<{ status: number; body: any }>
}

export interface TestServer extends TestClient, AsyncDisposable {
  app: App
  config: Config
  connectionString: string
  /** Everything that it logged, as lines. */
  logLines: string[]
}

export interface RestOptions {
  body?: unknown
  key?: string | null
  headers?: Record<string, string>
  signal?: AbortSignal
}

export interface RestResponse {
  status: number
  headers: Headers
  body: any
}

export interface ServerOptions {
  /** Joins the database of another server. */
  connectionString?: string
  now?: () => Date
  environment?: Record<string, string>
}

/** A whole server in this process, on a database of its own, driven by its public doors. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const owned = options.connectionString ? null : await createTestDatabase()
  const connectionString = options.connectionString ?? owned!.connectionString
  const port = await freePort()
  const result = readConfig(
    {
      PORT: String(port),
      DATABASE_URL: connectionString,
      HOLDPOINT_ADMIN_KEY: adminKey,
      HOLDPOINT_DATA_DIR: `/tmp/holdpoint-test-data-${port}`,
      LOG_LEVEL: 'debug',
      ...options.environment,
    },
    process.cwd(),
  )
  if (!result.ok) throw new Error(result.problems.join('; '))
  const { config } = result
  const logLines: string[] = []
  const log = pino(
    { level: config.logLevel, base: undefined },
    { write: (line: string) => logLines.push(line) },
  )
  const app = await startApp(config, { log, now: options.now, drainGraceMs: 0, pushAddresses: 'any' })
  return {
    ...clientOf(`http://127.0.0.1:${port}`),
    app,
    config,
    connectionString,
    logLines,
    async [Symbol.asyncDispose]() {
      await app.close()
      await owned?.drop()
      await rm(config.dataDir, { recursive: true, force: true })
    },
  }
}

/** The public doors of the server at an address, whichever process it runs in. */
export function clientOf(url: string): TestClient {
  async function rest(
    method: string,
    path: string,
    { body, key, headers, signal }: RestOptions = {},
  ): Promise<RestResponse> {
    const response = await fetch(`${url}${path}`, {
      method,
      signal,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key ? { 'x-api-key': key } : {}),
        ...headers,
      },
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: parsed(text) }
  }

  async function graphqlRaw(query: string, variables: object = {}, key: string | null = adminKey) {
    const { status, body } = await rest('POST', '/graphql', { body: { query, variables }, key })
    return { status, body }
  }

  return {
    url,
    rest,
    graphqlRaw,
    async graphql(query, variables, key) {
      const { body } = await graphqlRaw(query, variables, key)
      if (body.errors) throw new Error(JSON.stringify(body.errors))
      return body.data
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

let next = 0

/**
 * A port in this worker's own range: servers that share a database listen with reusePort, so that two that picked the
 * same number would not fail but answer for each other.
 */
export async function freePort(): Promise<number> {
  // Below the system's own range, and apart from another run on the same machine.
  const base = 10_000 + ((process.ppid * 7 + Number(process.env.VITEST_POOL_ID ?? 0)) % 44) * 500
  for (;;) {
    const port = base + (next++ % 500)
    const free = await new Promise<boolean>((resolve) => {
      const server = createServer()
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (free) return port
  }
}
