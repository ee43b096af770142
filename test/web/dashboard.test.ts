import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server?.[Symbol.asyncDispose]())

it('scripts and styles come compressed to whoever takes that, and as they are to everybody else', async () => {
  const page = await (await fetch(server.url, { headers: { accept: 'text/html' } })).text()
  const files = [...page.matchAll(/"(\/assets\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path!)
  expect(files.length).toBeGreaterThan(1)
  for (const file of files) {
    const get = (encoding: string) =>
      fetch(`${server.url}${file}`, { headers: { 'accept-encoding': encoding } })
    const [packed, plain] = [await get('gzip, deflate, br'), await get('identity')]
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(plain.headers.get('content-encoding')).toBeNull()
    for (const response of [packed, plain]) {
      expect(response.headers.get('vary')).toContain('accept-encoding')
      expect(response.headers.get('cache-control')).toContain('immutable')
      expect(response.headers.get('content-type')).toMatch(file.endsWith('.js') ? /javascript/ : /css/)
    }
    expect(await packed.text()).toBe(await plain.text())
  }
})
