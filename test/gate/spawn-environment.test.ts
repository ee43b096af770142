import { describe, expect, it } from 'vitest'
import { parseDotenv } from '../../src/gate/dotenv.ts'
import {
  clientTtlMs,
  dotenvOverrides,
  dotenvWarnings,
  spawnEnvironment,
} from '../../src/gate/spawn-environment.ts'

const settings = {
  collectionUrl: 'https://gate.example/api/v1/elicitations',
  expirationMs: 3_600_000,
  sessionId: 'session-1',
  dotenv: {},
}

function dotenv(text: string) {
  return parseDotenv(text).variables
}

describe('the spawn environment', () => {
  it('is five variables, in their order, and never ELICITATION_ENABLED', () => {
    expect(Object.entries(spawnEnvironment(settings))).toEqual([
      ['ELICITATION_REQUEST_URL', 'https://gate.example/api/v1/elicitations'],
      ['ELICITATION_POLL_URL', 'https://gate.example/api/v1/elicitations'],
      ['ELICITATION_PREFER_HTTP_FALLBACK', 'true'],
      ['ELICITATION_TTL_MS', '3600000'],
      ['ELICITATION_SESSION_ID', 'session-1'],
    ])
  })

  it('leaves the session id out when there is no session', () => {
    expect(Object.keys(spawnEnvironment({ ...settings, sessionId: undefined }))).toEqual([
      'ELICITATION_REQUEST_URL',
      'ELICITATION_POLL_URL',
      'ELICITATION_PREFER_HTTP_FALLBACK',
      'ELICITATION_TTL_MS',
    ])
  })

  it('takes each of the five from the .env where it is not blank, and nothing else', () => {
    const environment = spawnEnvironment({
      ...settings,
      dotenv: dotenv(
        'ELICITATION_TTL_MS=1000\nELICITATION_POLL_URL=\nELICITATION_REQUEST_URL=" "\nTOKEN=x\nELICITATION_ENABLED=false',
      ),
    })
    expect({ ...environment }).toEqual({ ...spawnEnvironment(settings), ELICITATION_TTL_MS: '1000' })
  })

  it('takes a session id from the .env even when there is no session', () => {
    const environment = spawnEnvironment({
      ...settings,
      sessionId: undefined,
      dotenv: dotenv('ELICITATION_SESSION_ID=mine'),
    })
    expect(Object.entries(environment).at(-1)).toEqual(['ELICITATION_SESSION_ID', 'mine'])
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses %d as an expiration, which would end every wait',
    (expirationMs) => {
      expect(() => spawnEnvironment({ ...settings, expirationMs })).toThrow(RangeError)
    },
  )
})

describe('a .env that takes part in the gate', () => {
  it('is named by the variables that it decides', () => {
    expect(
      dotenvOverrides(
        dotenv('ELICITATION_SESSION_ID=a\nELICITATION_REQUEST_URL=b\nELICITATION_POLL_URL=\nX=1'),
      ),
    ).toEqual(['ELICITATION_REQUEST_URL', 'ELICITATION_SESSION_ID'])
  })

  it('is warned about when it names only one of the two addresses', () => {
    expect(dotenvWarnings(dotenv('ELICITATION_REQUEST_URL=https://a.example'))).toEqual([
      expect.stringMatching(
        /sets ELICITATION_REQUEST_URL but not ELICITATION_POLL_URL.*Set both, or neither/,
      ),
    ])
    expect(dotenvWarnings(dotenv('ELICITATION_POLL_URL=https://a.example'))).toEqual([
      expect.stringMatching(/sets ELICITATION_POLL_URL but not ELICITATION_REQUEST_URL/),
    ])
    expect(dotenvWarnings(dotenv('ELICITATION_REQUEST_URL=a\nELICITATION_POLL_URL=a'))).toEqual([])
    expect(dotenvWarnings(dotenv('ELICITATION_TTL_MS=1'))).toEqual([])
  })
})

it.each([
  ['3600000', 3_600_000],
  ['300000abc', 300_000],
  ['0', 0],
  ['-5', 300_000],
  ['soon', 300_000],
  ['', 300_000],
  [undefined, 300_000],
])('a client that is told to wait %j waits %d ms', (value, ms) => {
  expect(clientTtlMs(value)).toBe(ms)
})
