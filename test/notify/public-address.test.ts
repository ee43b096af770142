import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { post } from '../../src/notify/post.ts'
import { isPublicAddress, isPublicHost, lookupPublic } from '../../src/notify/public-address.ts'

it.each([
  '8.8.8.8',
  '1.1.1.1',
  '172.15.255.255',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700::1111',
  '2a00:1450:4001::5',
])('counts %s as public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

it.each([
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  'fe80::1',
  'fe80::1%eth0',
  'fc00::1',
  'fd12::1',
  'ff02::1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '2001:0:1::',
  '2001:db8::1',
  'example.com',
  '',
])('does not count %s as public', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

it.each([
  'https://localhost/',
  'https://127.0.0.1/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://[::1]/',
  'https://[::ffff:7f00:1]/',
  'https://no-such-name.invalid/',
])('refuses the host of %s', async (address) => {
  expect(await isPublicHost(new URL(address))).toBe(false)
})

it('refuses a name at the moment of connecting, whatever it resolved to before', async () => {
  let reached = false
  const server = createServer((_, response) => {
    reached = true
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const posted = await post(new URL(`http://localhost:${port}/`), {
    headers: {},
    body: '',
    lookup: lookupPublic,
  })
  expect(posted).toEqual({ status: null, detail: 'localhost is not an address of the public internet' })
  expect(reached).toBe(false)
  await new Promise((resolve) => server.close(resolve))
})
