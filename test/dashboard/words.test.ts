import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { regionNames } from '../../src/dashboard/attention/region-name.ts'
import { hintsOf } from '../../src/dashboard/form/hints.ts'
import { looksLikeSecret } from '../../src/dashboard/form/secret.ts'
import { claudeCodeSnippet, codexSnippet } from '../../src/dashboard/gate/snippets.ts'
import { delay, duration, since } from '../../src/dashboard/text/duration.ts'
import { actorText, eventText } from '../../src/dashboard/timeline/event-text.ts'
import { permissionsOf } from '../../src/dashboard/viewer/permissions.ts'
import { parseForm } from '../../src/elicitation/form/parse.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

it.each([
  [-5, '0:00'],
  [1, '0:01'],
  [59 * second, '0:59'],
  [4 * minute + 59 * second, '4:59'],
  [42 * minute, '42 min'],
  [3 * hour + 5 * minute, '3 h 5 min'],
  [52 * hour, '2 d 4 h'],
])('%d ms are left as "%s"', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

it.each([
  [3 * second, 'just now'],
  [42 * second, '42 s ago'],
  [5 * minute, '5 min ago'],
  [3 * hour, '3 h ago'],
  [50 * hour, '2 d ago'],
])('%d ms ago is "%s"', (ms, text) => {
  expect(since(ms)).toBe(text)
})

it.each([
  [0, '0.1 s'],
  [240, '0.2 s'],
  [14_200, '14 s'],
  [3 * minute, '3 min'],
  [2 * hour, '2 h'],
])('a delay of %d ms is "%s"', (ms, text) => {
  expect(delay(ms)).toBe(text)
})

describe('a field that looks as if it asked for a secret', () => {
  const field = (name: string, property: object = { type: 'string' }) =>
    parseForm({ properties: { [name]: property } }).fields[0]!

  it.each([
    ['password'],
    ['apiKey'],
    ['api_key'],
    ['GITHUB_TOKEN'],
    ['client-secret'],
    ['cardNumber'],
    ['cvv'],
    ['user_pin'],
  ])('is %s', (name) => {
    expect(looksLikeSecret(field(name))).toBe(true)
  })

  it.each([['region'], ['shipping'], ['key'], ['monkey'], ['max_tokens'], ['pinned']])(
    'is not %s',
    (name) => {
      expect(looksLikeSecret(field(name))).toBe(false)
    },
  )

  it('can give itself away by its title, and never by a number', () => {
    expect(looksLikeSecret(field('f', { type: 'string', title: 'Your password' }))).toBe(true)
    expect(looksLikeSecret(field('token', { type: 'integer' }))).toBe(false)
  })
})

describe('the small print of a field', () => {
  const hints = (property: object, entry: string | string[] = '') =>
    hintsOf(parseForm({ properties: { f: property } }).fields[0]!, entry)

  it('counts code points along', () => {
    expect(hints({ type: 'string', minLength: 5, maxLength: 12 }, '🙂🙂')).toEqual([
      '5 to 12 characters, now 2',
    ])
    expect(hints({ type: 'string', maxLength: 12 })).toEqual(['At most 12 characters'])
  })
  it('shows the pattern', () => {
    expect(hints({ type: 'string', pattern: '^v[0-9]+$' })).toEqual(['Pattern: ^v[0-9]+$'])
  })
  it('says how many to choose and how many are', () => {
    expect(
      hints({ type: 'array', minItems: 1, maxItems: 2, items: { enum: ['a', 'b', 'c'] } }, ['0']),
    ).toEqual(['Choose 1 to 2, 1 chosen'])
  })
  it('says the range of a number', () => {
    expect(hints({ type: 'number', minimum: 0, maximum: 99.5 })).toEqual(['0 to 99.5'])
    expect(hints({ type: 'integer', minimum: 1 })).toEqual(['A whole number, at least 1'])
  })
})

describe('a line of the timeline', () => {
  it('names the tool and the decision', () => {
    const data = { status: 'decline', cause: 'answered', note: 'not today' }
    expect(
      eventText({ type: 'elicitation.resolved', data, elicitation: { id: '1', toolName: 'delete_tenant' } }),
    ).toEqual({
      title: 'Declined: delete_tenant',
      detail: 'not today',
    })
  })
  it('tells the reasons of a cancel apart', () => {
    const title = (cause: string) =>
      eventText({ type: 'elicitation.resolved', data: { status: 'cancel', cause }, elicitation: null }).title
    expect(title('dismissed')).toBe('Dismissed without an answer')
    expect(title('session_ended')).toBe('Cancelled: the session ended')
    expect(title('withdrawn')).toBe('Withdrawn by the server that asked')
  })
  it('shows a type that it does not know as it is', () => {
    expect(eventText({ type: 'constructor', data: {}, elicitation: null }).title).toBe('constructor')
  })
  it('says who it was', () => {
    expect(actorText({ kind: 'api-key', name: 'night shift', role: 'RESPONDER' })).toBe(
      'night shift (responder)',
    )
    expect(actorText({ kind: 'clock', name: null, role: null })).toBe('the clock')
  })
})

it('counts the regions of several requests, and leaves a single one its plain name', () => {
  expect(regionNames(['a']).get('a')).toBe('Approval request')
  expect([...regionNames(['a', 'b']).values()]).toEqual([
    'Approval request 1 of 2',
    'Approval request 2 of 2',
  ])
})

it('offers a key that is bound to a session nothing but looking', () => {
  expect(permissionsOf({ role: 'ADMIN', sessionId: 'x' })).toEqual([])
  expect(permissionsOf({ role: 'LAUNCHER', sessionId: null })).toEqual(['launch'])
})

describe('the snippets of the gate page', () => {
  const facts = {
    collectionUrl: 'https://gate.example/api/v1/elicitations',
    expirationMs: hour,
    sessionId: null,
  }

  it('give Claude Code the five variables and more patience than the person has', () => {
    const { example } = JSON.parse(claudeCodeSnippet(facts)).mcpServers
    expect(Object.keys(example.env)).toHaveLength(5)
    expect(example.timeout).toBe(65 * minute)
  })

  it('give Codex the same in its own words', () => {
    const { example } = parse(codexSnippet(facts)).mcp_servers as {
      example: { env: object; tool_timeout_sec: number }
    }
    expect(Object.keys(example.env)).toHaveLength(5)
    expect(example.tool_timeout_sec).toBe(65 * 60)
  })
})
