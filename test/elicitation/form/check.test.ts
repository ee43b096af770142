import { describe, expect, it } from 'vitest'
import { checkContent } from '../../../src/elicitation/form/check.ts'
import { parseForm } from '../../../src/elicitation/form/parse.ts'

const confirmation = parseForm({ properties: { confirm: { type: 'boolean' } }, required: ['confirm'] })
const optional = parseForm({
  properties: {
    note: { type: 'string', minLength: 3 },
    count: { type: 'integer' },
    tags: { type: 'array', items: { enum: ['a'] } },
  },
})
const required = parseForm({ properties: { why: { type: 'string', title: 'Why' } }, required: ['why'] })
const open = parseForm({})

describe('absent content', () => {
  it.each([[undefined], [null], [{}]])('is kept as null where nothing is required: %s', (content) => {
    expect(checkContent(optional, content)).toEqual({ ok: true, content: null })
    expect(checkContent(open, content)).toEqual({ ok: true, content: null })
  })

  it.each([[undefined], [null], [{}]])('is refused where something is required: %s', (content) => {
    expect(checkContent(required, content)).toEqual({
      ok: false,
      fields: [{ name: 'why', messages: ['Why is required.'] }],
    })
  })

  it.each([[undefined], [null], [{}]])('means yes on a confirmation: %s', (content) => {
    expect(checkContent(confirmation, content)).toEqual({ ok: true, content: { confirm: true } })
  })

  it('means yes on a confirmation whose name is __proto__', () => {
    const form = parseForm(
      JSON.parse('{"properties": {"__proto__": {"type": "boolean"}}, "required": ["__proto__"]}'),
    )
    expect(JSON.stringify(checkContent(form, undefined))).toBe('{"ok":true,"content":{"__proto__":true}}')
  })
})

it('takes a No as the content of an accepted confirmation', () => {
  expect(checkContent(confirmation, { confirm: false })).toEqual({ ok: true, content: { confirm: false } })
})

it.each([['yes'], [5], [true], [[]], [[{ why: 'x' }]]])(
  'refuses content that is not an object: %j',
  (content) => {
    expect(checkContent(required, content)).toEqual({
      ok: false,
      fields: [{ name: '', messages: ['Send the content as a JSON object. The fields are: "why".'] }],
    })
  },
)

it('refuses every key that is no field, naming the fields', () => {
  expect(checkContent(required, { why: 'x', wy: 1, toString: 2 })).toEqual({
    ok: false,
    fields: [
      { name: 'wy', messages: ['The form has no field "wy": leave it out. The fields are: "why".'] },
      {
        name: 'toString',
        messages: ['The form has no field "toString": leave it out. The fields are: "why".'],
      },
    ],
  })
})

it('refuses inherited members as answers', () => {
  const form = parseForm({ properties: { constructor: { type: 'string' } }, required: ['constructor'] })
  expect(checkContent(form, {})).toEqual({
    ok: false,
    fields: [{ name: 'constructor', messages: ['constructor is required.'] }],
  })
})

it('reports all fields at once, in the order of the form', () => {
  expect(checkContent(optional, { count: 1.5, note: 'x', tags: ['b'] })).toEqual({
    ok: false,
    fields: [
      { name: 'note', messages: ['Use at least 3 characters (now 1).'] },
      { name: 'count', messages: ['Enter a whole number.'] },
      { name: 'tags', messages: ['"b" is not one of the options.'] },
    ],
  })
})

it('reports a bounded number of problems', () => {
  const content = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key${index}`, 1]))
  const verdict = checkContent(required, content)
  expect(verdict.ok ? [] : verdict.fields).toHaveLength(100)
})

it('leaves out what is left empty, but keeps a list from which everything was removed', () => {
  expect(checkContent(optional, { note: '', count: undefined, tags: [] })).toEqual({
    ok: true,
    content: { tags: [] },
  })
})

it('refuses null for an optional field: it is left out instead', () => {
  expect(checkContent(optional, { note: null, count: null, tags: null })).toEqual({
    ok: false,
    fields: [
      { name: 'note', messages: ['Enter text, or leave the field out.'] },
      { name: 'count', messages: ['Enter a number.'] },
      { name: 'tags', messages: ['Choose from the list.'] },
    ],
  })
})

it('counts blanks as no answer to a required text', () => {
  expect(checkContent(required, { why: ' \n\t' })).toMatchObject({
    ok: false,
    fields: [{ messages: ['Why is required.'] }],
  })
  expect(checkContent(required, { why: ' x ' })).toEqual({ ok: true, content: { why: ' x ' } })
})

it('keeps the order of the form, whatever the order of the answer', () => {
  const verdict = checkContent(optional, { tags: ['a'], note: 'abc' })
  expect(verdict.ok && Object.keys(verdict.content ?? {})).toEqual(['note', 'tags'])
})

it('refuses integers that a double cannot hold exactly', () => {
  expect(checkContent(optional, { count: 2 ** 53 - 1 })).toMatchObject({ ok: true })
  expect(checkContent(optional, { count: 2 ** 53 })).toMatchObject({
    ok: false,
    fields: [{ messages: ['Enter a whole number from -9007199254740991 to 9007199254740991.'] }],
  })
  expect(checkContent(optional, { count: Number.POSITIVE_INFINITY })).toMatchObject({ ok: false })
})

it('says one character, not one characters', () => {
  const form = parseForm({ properties: { c: { type: 'string', maxLength: 1 } } })
  expect(checkContent(form, { c: '🙂' })).toEqual({ ok: true, content: { c: '🙂' } })
  expect(checkContent(form, { c: 'ab' })).toMatchObject({
    ok: false,
    fields: [{ messages: ['Use at most 1 character (now 2).'] }],
  })
})

it.each([['a\0b'], ['\ud800'], ['\udc00x']])('refuses text that the database could not read: %j', (text) => {
  const message = 'Remove the characters that are not text (U+0000, or half of a surrogate pair).'
  const list = parseForm({ properties: { list: { type: 'array', items: { type: 'string' } } } })
  expect(checkContent(required, { why: text })).toEqual({
    ok: false,
    fields: [{ name: 'why', messages: [message] }],
  })
  expect(checkContent(list, { list: [text] })).toEqual({
    ok: false,
    fields: [{ name: 'list', messages: [message] }],
  })
  expect(checkContent(open, { a: text })).toEqual({ ok: false, fields: [{ name: 'a', messages: [message] }] })
  expect(checkContent(open, { [text]: 1 })).toEqual({
    ok: false,
    fields: [{ name: text, messages: [message] }],
  })
  expect(checkContent(open, { a: [text] })).toEqual({
    ok: false,
    fields: [{ name: 'a', messages: [message] }],
  })
  expect(checkContent(open, { [text]: 1 })).toEqual({
    ok: false,
    fields: [{ name: text, messages: [message] }],
  })
})

describe('a schema without properties', () => {
  it('takes any flat object', () => {
    const content = { a: 'x', b: 1.5, c: false, d: ['x', 'y'], e: [], ['__proto__']: 'p', constructor: 'c' }
    expect(checkContent(open, content)).toEqual({ ok: true, content })
  })

  it.each([[null], [{}], [[1]], [[['x']]], [Number.NaN]])('refuses what is not flat: %j', (value) => {
    expect(checkContent(open, { a: value })).toEqual({
      ok: false,
      fields: [{ name: 'a', messages: ['Send text, a number, true or false, or a list of texts.'] }],
    })
  })

  it('still asks for what it requires', () => {
    const form = parseForm({ required: ['a'] })
    expect(checkContent(form, { b: 1 })).toEqual({
      ok: false,
      fields: [{ name: 'a', messages: ['a is required.'] }],
    })
    expect(checkContent(form, { a: 'x', b: 1 })).toEqual({ ok: true, content: { a: 'x', b: 1 } })
  })
})
