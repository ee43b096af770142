import { describe, expect, it } from 'vitest'
import { checkContent } from '../../../src/elicitation/form/check.ts'
import { parseForm } from '../../../src/elicitation/form/parse.ts'
import { compilePattern } from '../../../src/elicitation/form/pattern.ts'

function formOf(pattern: string, rest: object = {}) {
  return parseForm({ properties: { f: { type: 'string', pattern, ...rest } } })
}

function takes(pattern: string, text: string): boolean {
  return checkContent(formOf(pattern), { f: text }).ok
}

describe('a pattern', () => {
  it('is searched for anywhere in the text, as in JSON Schema', () => {
    expect(takes('b+', 'abbc')).toBe(true)
    expect(takes('^b+$', 'abbc')).toBe(false)
    expect(takes('^a$', 'x\na\ny')).toBe(false)
    expect(takes('', 'anything')).toBe(true)
  })

  it.each([
    ['^\\u0041\\u{1F600}$', 'A😀'],
    ['^[^]$', '\n'],
    ['^(?<year>\\d{4})/\\p{Lu}$', '2026/Ä'],
    ['^\\cA?\\/x$', '/x'],
    ['^.$', '🙂'],
  ])('is read as ECMAScript with Unicode: %s', (pattern, text) => {
    expect(new RegExp(pattern, 'u').test(text)).toBe(true)
    expect(formOf(pattern).fields[0]?.notes).toEqual([])
    expect(takes(pattern, text)).toBe(true)
    expect(takes(pattern, `${text}!`)).toBe(false)
  })

  it.each([
    ['^[\\w-.]+$', 'a-b.c'],
    ['(?i)^abc$', 'ABC'],
    ['\\Aab\\z', 'ab'],
    ['^a\\-b$', 'a-b'],
  ])('of a server in another language is taken where the linear engine reads it: %s', (pattern, text) => {
    expect(formOf(pattern).fields[0]?.notes).toEqual([])
    expect(takes(pattern, text)).toBe(true)
    expect(takes(pattern, `${text}!`)).toBe(false)
  })

  it.each([
    ['a lookahead', '^(?=.*[0-9]).{8,}$'],
    ['a negative lookahead', '^(?!root)'],
    ['a lookbehind', '(?<=a)b'],
    ['a back-reference', '^(a+)\\1$'],
    ['a back-reference by name', '^(?<q>a)\\k<q>$'],
    ['a broken one', '('],
    ['a broken repeat', 'a**'],
    ['repeats within repeats', '(a{1000}){1000}'],
    ['small repeats many levels deep', '((((((a{9}){9}){9}){9}){9}){9}){9}'],
    ['many large repeats', '(?:a{0,999})'.repeat(40)],
    ['a repeated large group', `(?:${'[a-z]'.repeat(100)}){500}`],
    ['repeated Unicode classes', '\\p{L}{1000}'],
    ['a very long one', 'a'.repeat(1_001)],
  ])('is not enforced, and a note says so: %s', (_name, pattern) => {
    const form = formOf(pattern)
    expect(form.fields[0]).toMatchObject({ pattern, patternChecked: false })
    expect(form.fields[0]?.notes).toEqual([
      expect.stringMatching(/^Also required by the server, not checked here: the pattern "/),
    ])
    expect(checkContent(form, { f: 'whatever' })).toEqual({ ok: true, content: { f: 'whatever' } })
  })

  it.each(['^(a+)+$', '^(a|a)*$', '^(\\w+\\s?)*$', '(x+x+)+y', '^(([a-z])+.)+[A-Z]([a-z])+$'])(
    'that would hang a backtracking engine is answered at once: %s',
    (pattern) => {
      const started = performance.now()
      expect(takes(pattern, `${'a'.repeat(20_000)}!`)).toBe(false)
      // Far above what it takes, far below what backtracking over 20,000 characters would.
      expect(performance.now() - started).toBeLessThan(5_000)
    },
  )

  it('is bounded in the work of one match: a text too long for it is refused', () => {
    const form = formOf('(?:[ab]*a[ab]*){1,60}$')
    expect(checkContent(form, { f: 'ab'.repeat(100) })).toMatchObject({ ok: true })
    expect(checkContent(form, { f: 'ab'.repeat(50_000) })).toEqual({
      ok: false,
      fields: [
        {
          name: 'f',
          messages: ['This text is too long to be checked against the required pattern. Shorten it.'],
        },
      ],
    })
  })

  it('is shown with its hidden characters visible, and kept exact', () => {
    const form = formOf('^a\u200b$')
    expect(form.fields[0]).toMatchObject({ pattern: '^a\u200b$' })
    expect(checkContent(form, { f: 'a' })).toMatchObject({
      ok: false,
      fields: [{ messages: ['Does not match the required pattern ^a⟨U+200B⟩$.'] }],
    })
  })

  it.each([
    '^.{1,1000}$',
    '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$',
    "^[\\p{L} '-]{1,100}$",
    '^[A-Za-z0-9+/]{1,1000}={0,2}$',
  ])('of ordinary size is enforced: %s', (pattern) => {
    expect(compilePattern(pattern)).not.toBeNull()
  })
})

describe('the patterns of one form', () => {
  const properties = (count: number, property: (index: number) => object) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`p${index}`, { type: 'string', ...property(index) }]),
    )

  it('share a budget, beyond which they are not enforced', () => {
    const form = parseForm({
      properties: properties(100, (index) => ({ pattern: `^x${index}[ab]{0,1000}$` })),
    })
    const checked = form.fields.filter((field) => field.kind === 'text' && field.patternChecked)
    expect(checked).toHaveLength(7)
    expect(form.fields.filter((field) => field.notes.length > 0)).toHaveLength(93)
    expect(checkContent(form, { p0: 'no', p99: 'no' })).toMatchObject({ ok: false, fields: [{ name: 'p0' }] })
  })

  it('share a budget for the check of their defaults, beyond which a default is ignored', () => {
    const text = 'a'.repeat(600)
    const form = parseForm({
      properties: properties(10, (index) => ({ pattern: `^[ab]{0,700}$|${index}`, default: text })),
    })
    const defaults = form.fields.map((field) => field.default)
    expect(defaults.filter((value) => value !== null)).toEqual([])
    expect(form.fields[0]?.notes).toEqual([
      `The server's default "${'a'.repeat(59)}…" is too long to be checked and was ignored.`,
    ])
  })

  it('are enforced for each form on its own', () => {
    const a = formOf('^a$')
    const b = formOf('^b$')
    expect(checkContent(a, { f: 'a' }).ok).toBe(true)
    expect(checkContent(b, { f: 'a' }).ok).toBe(false)
    expect(checkContent(structuredClone(a), { f: 'b' }).ok).toBe(false)
  })
})
