import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/base/json.ts'
import { readContent } from '../../src/dashboard/form/content.ts'
import { type Entry, initialEntry, readEntry } from '../../src/dashboard/form/entry.ts'
import { checkField } from '../../src/elicitation/form/check.ts'
import type { FormField } from '../../src/elicitation/form/field.ts'
import { parseForm } from '../../src/elicitation/form/parse.ts'
import cases from '../elicitation/form/cases.json' with { type: 'json' }

function fieldOf(property: unknown, required = false): FormField {
  return parseForm({ properties: { f: property }, required: required ? ['f'] : [] }).fields[0]!
}

/** What a person does in the control to mean this value. */
function enter(field: FormField, value: Json): Entry {
  switch (field.kind) {
    case 'boolean':
      return value === true ? 'yes' : 'no'
    case 'select':
      return String(field.options.findIndex((option) => option.value === value))
    case 'multiSelect':
      return (value as string[]).map((each) =>
        String(field.options.findIndex((option) => option.value === each)),
      )
    case 'text':
      if (field.format === 'DATE_TIME') return momentOf(String(value))
      return String(value)
    default:
      return String(value)
  }
}

function momentOf(text: string): Entry {
  const [, local, zone] = /^(.*?)(?::00)?(Z|[+-]\d\d:\d\d)$/.exec(text) as unknown as [string, string, string]
  return { local, zone }
}

describe.each(cases)('a control of the shape $id', ({ field: property, valid }) => {
  const field = fieldOf(property, true)

  it.each((valid as Json[]).map((value) => [JSON.stringify(value), value]))(
    'sends %s as exactly that',
    (_text, value) => {
      expect(readEntry(field, enter(field, value))).toEqual({ ok: true, value })
    },
  )
})

it.each([
  [{ type: 'string' }],
  [{ type: 'string', enum: ['a', 'b'] }],
  [{ type: 'number' }],
  [{ type: 'boolean' }],
  [{ type: 'string', format: 'date-time' }],
  [{ type: 'array', items: { enum: ['a'] } }],
  [{ type: 'array', items: { type: 'string' } }],
  [{ type: 'object', properties: {} }],
])('leaves out an optional field that nobody touched: %j', (property) => {
  const field = fieldOf(property)
  expect(readEntry(field, initialEntry(field))).toEqual({ ok: true, value: undefined })
})

it.each([
  [{ type: 'string', default: 'eu-1' }, 'eu-1'],
  [{ type: 'string', default: 'two\nlines' }, 'two\nlines'],
  [{ type: 'number', default: 12.25 }, 12.25],
  [{ type: 'integer', default: 0 }, 0],
  [{ type: 'boolean', default: false }, false],
  [{ type: 'string', enum: ['a', 'b'], default: 'b' }, 'b'],
  [{ type: 'integer', enum: [1, 2], default: 2 }, 2],
  [{ type: 'array', items: { enum: ['a', 'b'] }, default: ['b'] }, ['b']],
  [{ type: 'array', items: { type: 'string' }, default: ['x', 'y'] }, ['x', 'y']],
  [
    { type: 'string', format: 'date-time', default: '2026-02-28T10:00:00.123456+02:00' },
    '2026-02-28T10:00:00.123456+02:00',
  ],
  [{ type: 'string', format: 'date', default: '2026-02-28' }, '2026-02-28'],
  [{ type: 'object', default: { a: [1] } }, { a: [1] }],
] as [object, Json][])('sends an untouched default: %j', (property, value) => {
  const field = fieldOf(property)
  expect(readEntry(field, initialEntry(field))).toEqual({ ok: true, value })
})

it('leaves out a default that was cleared, except where an empty list is an answer of its own', () => {
  expect(readEntry(fieldOf({ type: 'string', default: 'x' }), '')).toEqual({ ok: true, value: undefined })
  const list = { type: 'array', items: { enum: ['a'] }, default: ['a'] }
  expect(readEntry(fieldOf(list), [])).toEqual({ ok: true, value: [] })
  expect(readEntry(fieldOf({ ...list, minItems: 1 }), [])).toEqual({ ok: true, value: undefined })
})

it('keeps numbers that look alike apart from texts', () => {
  const field = fieldOf({ enum: [1, '1', true] })
  expect([0, 1, 2].map((index) => readEntry(field, String(index)))).toEqual([
    { ok: true, value: 1 },
    { ok: true, value: '1' },
    { ok: true, value: true },
  ])
})

it('sends several choices in the order of the schema, not of the ticking', () => {
  const field = fieldOf({ type: 'array', items: { enum: ['a', 'b', 'c'] } })
  expect(readEntry(field, ['2', '0'])).toEqual({ ok: true, value: ['a', 'c'] })
})

it('reads one entry a line where the list is free, and skips blank lines', () => {
  expect(readEntry(fieldOf({ type: 'array', items: { type: 'string' } }), ' a \n\nb c\n')).toEqual({
    ok: true,
    value: ['a', 'b c'],
  })
})

it.each([
  ['5.0', 5],
  ['1e3', 1000],
  [' -7 ', -7],
  ['+.5', 0.5],
])('reads %s as a number', (text, value) => {
  expect(readEntry(fieldOf({ type: 'number' }), text)).toEqual({ ok: true, value })
})

it.each([['1,5'], ['1,000'], ['twelve'], ['0x10'], ['Infinity'], ['1 2'], ['--1']])(
  'does not take %s for a number',
  (text) => {
    expect(readEntry(fieldOf({ type: 'number' }), text)).toMatchObject({
      ok: false,
      message: expect.stringContaining('Enter a number'),
    })
  },
)

it('says what is wrong with text that is not JSON yet', () => {
  expect(readEntry(fieldOf({ type: 'object' }), '{a: 1}')).toMatchObject({
    ok: false,
    message: expect.stringContaining('not JSON'),
  })
})

describe('the content of an accept', () => {
  it('has all fields checked at once, by position', () => {
    const form = parseForm({
      properties: { a: { type: 'string', title: 'A' }, b: { type: 'integer' }, c: { type: 'string' } },
      required: ['a'],
    })
    const reading = readContent(form, (index) => ['', '2.5', 'fine'][index]!, checkField)
    expect(reading).toEqual({
      ok: false,
      problems: new Map([
        [0, ['A is required.']],
        [1, ['Enter a whole number.']],
      ]),
    })
  })

  it('is null when nothing is left to send', () => {
    expect(readContent(parseForm({ properties: { a: { type: 'string' } } }), () => '', checkField)).toEqual({
      ok: true,
      content: null,
    })
  })

  it('is yes for a confirmation, whatever its property is called', () => {
    const form = parseForm(
      JSON.parse('{"properties": {"__proto__": {"type": "boolean"}}, "required": ["__proto__"]}'),
    )
    expect(JSON.stringify(readContent(form, () => '', checkField))).toBe(
      '{"ok":true,"content":{"__proto__":true}}',
    )
  })

  it('keeps properties that are called like parts of the language', () => {
    const form = parseForm(
      JSON.parse(
        '{"properties": {"__proto__": {"type": "string"}, "constructor": {"type": "string"}, "toString": {"type": "string"}}}',
      ),
    )
    expect(JSON.stringify(readContent(form, (index) => `v${index}`, checkField))).toBe(
      '{"ok":true,"content":{"__proto__":"v0","constructor":"v1","toString":"v2"}}',
    )
  })
})
