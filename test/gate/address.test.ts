import { describe, expect, it } from 'vitest'
import {
  addressWarnings,
  collectionUrl,
  isLoopback,
  isLoopbackHost,
  isWildcardHost,
  parsePublicUrl,
  publicUrlOf,
} from '../../src/gate/address.ts'

describe('the public address', () => {
  it.each([
    ['http://127.0.0.1:4010', 'http://127.0.0.1:4010'],
    ['https://gate.example.com/', 'https://gate.example.com'],
    ['https://gate.example.com///', 'https://gate.example.com'],
    ['https://gate.example.com/holdpoint/', 'https://gate.example.com/holdpoint'],
    ['HTTPS://Gate.Example.COM:443', 'https://gate.example.com'],
    ['http://[::1]:4010/', 'http://[::1]:4010'],
    ['  http://host:1  ', 'http://host:1'],
    ['http://bücher.example', 'http://xn--bcher-kva.example'],
  ])('takes %j as %s', (text, url) => {
    expect(parsePublicUrl(text)).toEqual({ ok: true, url })
  })

  it.each([
    ['', /empty/],
    ['   ', /empty/],
    ['gate.example.com', /must start with http/],
    ['/api', /must start with http/],
    ['ftp://gate.example.com', /must start with http/],
    ['http:gate.example.com', /must start with http/],
    ['http://', /must start with http/],
    ['http:///x', /must start with http/],
    ['http:\\\\gate.example.com', /must start with http/],
    ['javascript:alert(1)', /must start with http/],
    ['https://gate.example.com/?a=1', /query/],
    ['https://gate.example.com?', /query/],
    ['https://gate.example.com/#top', /fragment/],
    ['https://gate.example.com/#', /fragment/],
    ['https://me:secret@gate.example.com', /user name or password/],
    ['https://me@gate.example.com', /user name or password/],
    ['https://@gate.example.com', /user name or password/],
    ['https://gate.exa mple.com', /spaces or backslashes/],
    ['https://gate.example.com/a\nb', /spaces or backslashes/],
    ['https://gate.example.com\\evil', /spaces or backslashes/],
    ['https://gate.example.com:99999', /not a valid URL/],
    ['https://[::1', /not a valid URL/],
    ['http://0.0.0.0:4010', /listen on/],
    ['http://[::]:4010', /listen on/],
    ['http://0:4010', /listen on/],
  ])('refuses %j and says what to write instead', (text, problem) => {
    const parsed = parsePublicUrl(text)
    expect(parsed).toEqual({ ok: false, problem: expect.stringMatching(problem) })
    expect(parsed).toEqual({ ok: false, problem: expect.stringContaining('write an address like') })
  })

  it('lets an at sign stand in the path, where it is no credential', () => {
    expect(parsePublicUrl('https://gate.example.com/@me')).toEqual({
      ok: true,
      url: 'https://gate.example.com/@me',
    })
  })

  it('never repeats a password in the problem', () => {
    expect(JSON.stringify(parsePublicUrl('https://me:hunter2@gate.example.com'))).not.toContain('hunter2')
  })

  it.each([
    ['127.0.0.1', 'http://127.0.0.1:4010'],
    ['localhost', 'http://localhost:4010'],
    ['::1', 'http://[::1]:4010'],
    ['[::1]', 'http://[::1]:4010'],
  ])('of a server on %s is %s', (host, url) => {
    expect(publicUrlOf(host, 4010)).toBe(url)
    expect(parsePublicUrl(url)).toEqual({ ok: true, url })
  })
})

describe('the collection URL', () => {
  it('is the plain address without a token and a capability address with one', () => {
    expect(collectionUrl('https://gate.example.com')).toBe('https://gate.example.com/api/v1/elicitations')
    expect(collectionUrl('https://gate.example.com/hp', 'tok_en-1')).toBe(
      'https://gate.example.com/hp/api/v1/gate/tok_en-1/elicitations',
    )
  })

  it.each(['', 'a/b', '../x', 'a?b', 'a b'])('does not take %j for a token', (token) => {
    expect(() => collectionUrl('https://gate.example.com', token)).toThrow(/token/)
  })
})

describe('loopback', () => {
  it.each([
    'http://localhost:4010',
    'http://LOCALHOST',
    'http://app.localhost',
    'http://localhost.',
    'http://127.0.0.1',
    'http://127.9.8.7',
    'http://127.1',
    'http://0x7f000001',
    'http://[::1]',
    'http://[0:0:0:0:0:0:0:1]',
    'http://[::ffff:127.0.0.1]',
  ])('%s means the machine itself', (url) => {
    expect(isLoopback(url)).toBe(true)
  })

  it.each([
    'http://10.0.0.1',
    'http://127.0.0.1.example.com',
    'http://localhost.example.com',
    'http://notlocalhost',
    'http://[::2]',
    'http://[::ffff:10.0.0.1]',
    'http://0.0.0.0',
    'not a url',
  ])('%s does not', (url) => {
    expect(isLoopback(url)).toBe(false)
  })

  it('is told of bare hosts too', () => {
    expect(['127.0.0.1', 'localhost', '::1', '[::1]'].map(isLoopbackHost)).toEqual([true, true, true, true])
    expect(['0.0.0.0', '::', '192.0.2.1', 'gate', ''].map(isLoopbackHost)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ])
  })

  it('knows the hosts that mean every interface', () => {
    expect(['0.0.0.0', '::', '[::]', '0:0:0:0:0:0:0:0'].map(isWildcardHost)).toEqual([true, true, true, true])
    expect(['127.0.0.1', '::1', 'localhost', ''].map(isWildcardHost)).toEqual([false, false, false, false])
  })
})

describe('address warnings', () => {
  it('says that other machines cannot use a loopback address when the server listens beyond loopback', () => {
    const [warning, ...more] = addressWarnings({
      publicUrl: 'http://localhost:4010',
      host: '0.0.0.0',
      probed: true,
    })
    expect(warning).toMatch(/listens on 0\.0\.0\.0.*http:\/\/localhost:4010.*Set PUBLIC_URL/)
    expect(more).toEqual([])
  })

  it('says that nobody probes a public address in development', () => {
    const [warning, ...more] = addressWarnings({
      publicUrl: 'https://gate.example',
      host: '0.0.0.0',
      probed: false,
    })
    expect(warning).toMatch(/not probed.*HOLDPOINT_ENV/)
    expect(more).toEqual([])
  })

  it.each([
    { publicUrl: 'http://127.0.0.1:4010', host: '127.0.0.1', probed: false },
    { publicUrl: 'https://gate.example', host: '0.0.0.0', probed: true },
    { publicUrl: 'https://gate.example', host: '127.0.0.1', probed: true },
  ])('has nothing to say about %j', (at) => {
    expect(addressWarnings(at)).toEqual([])
  })
})
