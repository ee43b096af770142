import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redact } from '../../src/base/redact.ts'

const key = 'hp_Ab3_-xYz_kd83jDk3-Kd93_kdKD93kd93kdKS'
const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl-_x'
const pem = (body: string) => `-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----`

describe('a text', () => {
  it.each([
    ['a bearer token', 'Authorization: Bearer abc.def-123', 'Authorization: [redacted]'],
    ['a bearer token without its header', 'send Bearer abc.def-1234 along', 'send Bearer [redacted] along'],
    [
      'basic authentication',
      "curl -H 'authorization: Basic dXNlcjpwYXNz' x",
      "curl -H 'authorization: [redacted]' x",
    ],
    ['a key of ours', `key ${key}.`, 'key hp_[redacted].'],
    [
      'a capability address',
      'http://127.0.0.1:4010/api/v1/gate/Zk3_x-9Zk3_x-9Zk3_x-9Zk3/elicitations',
      'http://127.0.0.1:4010/api/v1/gate/[redacted]/elicitations',
    ],
    ['a sign-in link', 'http://h/sign-in#Zk3_x-9Zk3', 'http://h/sign-in#[redacted]'],
    ['an AWS key', 'AKIAIOSFODNN7EXAMPLE and', '[redacted] and'],
    [
      'AWS secrets by name',
      'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG',
      'aws_secret_access_key = [redacted]',
    ],
    ['a GitHub token', 'with ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'with [redacted]'],
    ['a fine-grained GitHub token', 'github_pat_11ABCDEFG0abcdefghij_x', '[redacted]'],
    ['a Slack token', 'xoxb-2345678901-abc', '[redacted]'],
    ['a Slack webhook', 'https://hooks.slack.com/services/T0/B0/xyz', 'https://hooks.slack.com/[redacted]'],
    ['a model provider key', 'sk-proj-abcdefghijklmnop', '[redacted]'],
    ['a JWT', `token ${jwt}!`, 'token [redacted]!'],
    ['credentials in an address', 'postgres://app:p@ss@db/x?y', 'postgres://[redacted]@db/x?y'],
    ['a private key', `a ${pem('MIIE\nabc+/=')} b`, 'a [redacted] b'],
    ['a private key that was cut', '-----BEGIN PRIVATE KEY-----\nMIIE', '[redacted]'],
    ['an assignment', 'DB_PASSWORD=hunter2 next', 'DB_PASSWORD=[redacted] next'],
    ['a query', 'https://h/?api_key=abc&page=2', 'https://h/?api_key=[redacted]&page=2'],
    ['YAML', 'passphrase: hunter2\nuser: me', 'passphrase: [redacted]\nuser: me'],
    ['JSON', '{"clientSecret": "a\\"b", "n": 1}', '{"clientSecret": "[redacted]", "n": 1}'],
    ['JSON with a bare value', '{"password":12345}', '{"password":"[redacted]"}'],
    ['JSON in JSON', '{"x":"{\\"password\\":\\"hunter2\\"}"}', '{"x":"{\\"password\\":\\"[redacted]\\"}"}'],
    ['single quotes', "token='a b c' d", "token='[redacted]' d"],
    ['an option of a command', 'login --password hunter2 --user me', 'login --password [redacted] --user me'],
    ['cookies', 'Cookie: a=b; c=d\nHost: h', 'Cookie: [redacted]\nHost: h'],
  ])('loses %s', (_name, text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  it.each([
    'Delete the tenant acme in production?',
    'max_tokens=4096, 512 tokens: fine, a tokenizer: yes',
    'Basic information about the bearer of this',
    'hp_Ab3_-xYz',
    'The page /sessions/0199-abc and ssh to host',
    'mail me@example.com, see http://h/a@b',
    'eyJ is how a JWT begins',
    'Is the password right? Then go on.',
    '漢字 🙂',
  ])('keeps what is no secret: %s', (text) => {
    expect(redact(text)).toBe(text)
  })

  it('is cut beyond 64 Ki characters, not through the middle of a secret', () => {
    const text = redact(
      `${'word '.repeat(13_100)} ghp_16C7e42F292c6912E7710c838347Ae178B4a ${'x'.repeat(100_000)}`,
    )
    expect(text.length).toBeLessThan(66_000)
    expect(text.endsWith('… [cut]')).toBe(true)
    expect(text).not.toContain('ghp_16')
  })

  const pieces = [
    '://',
    '@',
    'eyJ',
    'eyJaaaaaa',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN ',
    'PRIVATE KEY',
    '-',
    '--',
    '--token ',
    'password',
    'password=',
    'password="',
    "token='",
    '\\',
    '\\"',
    'Bearer ',
    'Bearer a',
    'authorization:',
    'cookie:',
    'sk-',
    'SG.',
    'hp_',
    '/gate/',
    'ghp_',
    'a',
    ' ',
    '\n',
    '"',
    '=',
    '[redacted]',
    'Basic a1',
    'secret_',
  ]

  it.each(pieces.flatMap((piece, i) => [piece, `${piece}${pieces[(i + 7) % pieces.length]}`]))(
    'of nothing but %j takes no longer than its length allows',
    (piece) => {
      const text = piece.repeat(Math.ceil(65_536 / piece.length)).slice(0, 65_536)
      const began = performance.now()
      redact(text)
      // Linear is some milliseconds; quadratic would be minutes.
      expect(performance.now() - began).toBeLessThan(2_000)
    },
  )

  const soup = fc
    .array(fc.oneof(fc.constantFrom(...pieces, 'hunter2', ': ', '"x": "y"'), fc.string()), { maxLength: 14 })
    .map((parts) => parts.join(''))

  it('is the same when redacted again', () => {
    fc.assert(
      fc.property(soup, (text) => {
        const once = redact(text)
        expect(redact(once)).toBe(once)
      }),
      { numRuns: 2_000 },
    )
  })

  it('never keeps a key of ours or a JWT, whatever stands around it', () => {
    fc.assert(
      fc.property(soup, soup, (before, after) => {
        expect(redact(`${before} ${key} ${after}`)).not.toContain(key.slice(12))
        expect(redact(`${before} ${jwt} ${after}`)).not.toContain('c2lnbmF0dXJl')
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('a value', () => {
  it('loses what stands under a telling name, at every level, and secrets in its texts', () => {
    const value = {
      user: 'me',
      Password: 'hunter2',
      nested: [{ apiKey: 5, api_key: null, hasToken: true, text: `see ${key}` }],
      credentials: { any: ['thing'] },
      max_tokens: 7,
      at: new Date(0),
    }
    expect(redact(value)).toEqual({
      user: 'me',
      Password: '[redacted]',
      nested: [{ apiKey: '[redacted]', api_key: null, hasToken: true, text: 'see hp_[redacted]' }],
      credentials: '[redacted]',
      max_tokens: 7,
      at: new Date(0),
    })
    expect(value.Password).toBe('hunter2')
  })

  it('may be an error, whose message is redacted like any text', () => {
    const error = Object.assign(new Error('connect postgres://a:b@h failed'), { code: 'ECONNREFUSED' })
    const result = redact(error) as unknown as Record<string, unknown>
    expect(result.message).toBe('connect postgres://[redacted]@h failed')
    expect(result.code).toBe('ECONNREFUSED')
    expect(String(result.stack)).not.toContain('a:b')
  })

  it('keeps a property named __proto__ as data', () => {
    const text = '{"__proto__":{"secret":"[redacted]"},"constructor":"x"}'
    expect(JSON.stringify(redact(JSON.parse(text)))).toBe(text)
  })

  it('is cut when it is too deep, goes in circles or has too many parts', () => {
    const circle: Record<string, unknown> = { name: 'x' }
    circle.self = circle
    expect(JSON.stringify(redact(circle))).toContain('[cut]')
    let deep: unknown = 'x'
    for (let level = 0; level < 100_000; level += 1) deep = [deep]
    expect(JSON.stringify(redact(deep))).toBe(`${'['.repeat(16)}"[cut]"${']'.repeat(16)}`)
    expect(redact(Array.from({ length: 50_000 }, () => 1))).toHaveLength(10_000)
  })
})
