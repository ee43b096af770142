import { describe, expect, it } from 'vitest'
import { checkContent } from '../../../src/elicitation/form/check.ts'
import { parseForm } from '../../../src/elicitation/form/parse.ts'

/** The form's only field, of a schema with one property `f`. */
function fieldOf(property: unknown, required = true) {
  const form = parseForm({ type: 'object', properties: { f: property }, required: required ? ['f'] : [] })
  return { form, field: form.fields[0]! }
}

function answer(form: ReturnType<typeof parseForm>, value: unknown) {
  return checkContent(form, { f: value })
}

const taken = (value: unknown) => ({ ok: true, content: { f: value } })
const refused = (...messages: string[]) => ({ ok: false, fields: [{ name: 'f', messages }] })

describe('schemas without properties', () => {
  it.each([
    ['properties are empty', { type: 'object', properties: {} }],
    ['there is no properties key', { type: 'object' }],
    ['there is no schema', undefined],
    ['the schema is null', null],
    ['the schema is a list', [{ type: 'string' }]],
    ['the schema is a text', 'object'],
    ['properties are a list', { properties: ['a'] }],
  ])('have no fields and can be accepted when %s', (_name, schema) => {
    const form = parseForm(schema)
    expect(form).toEqual({ fields: [], confirmation: null, anyFlatObject: true, notes: [] })
    expect(checkContent(form, undefined)).toEqual({ ok: true, content: null })
    expect(checkContent(form, {})).toEqual({ ok: true, content: null })
  })

  it('take nothing when they forbid additional properties', () => {
    const form = parseForm({ type: 'object', properties: {}, additionalProperties: false })
    expect(form.anyFlatObject).toBe(false)
    expect(checkContent(form, { a: 1 })).toEqual({
      ok: false,
      fields: [{ name: 'a', messages: ['The form has no field "a": leave it out. The form has no fields.'] }],
    })
  })
})

describe('properties that no control can show', () => {
  it.each([
    ['a nested object', { type: 'object', properties: { a: { type: 'string' } } }],
    ['an unknown type', { type: 'file' }],
    ['a choice of types', { type: ['string', 'number'] }],
    ['a list of objects', { type: 'array', items: { type: 'object' } }],
    ['a list of lists', { type: 'array', items: { type: 'array', items: { type: 'string' } } }],
    ['a list of numbers', { type: 'array', items: { type: 'number' } }],
    ['a tuple', { type: 'array', items: [{ type: 'string' }] }],
    ['a reference', { $ref: '#/$defs/Color' }],
    ['a reference to elsewhere', { $ref: 'https://example.org/schema.json' }],
    ['a mixture of schemas', { anyOf: [{ type: 'string' }, { type: 'number' }] }],
    ['a half-listed choice', { oneOf: [{ const: 'a' }, { pattern: 'b' }] }],
    ['a null', { type: 'null' }],
  ])('become a JSON field: %s', (_name, property) => {
    const { form, field } = fieldOf(property)
    expect(field).toMatchObject({ kind: 'json', name: 'f' })
    expect(field.notes).toEqual([
      'The server asks for a shape that forms cannot show. Enter it as JSON.',
      `Its schema: ${JSON.stringify(property)}`,
    ])
    for (const value of [{ a: ['x', { b: null }] }, [1], 'plain', 0, false, null]) {
      expect(answer(form, value)).toEqual(taken(value))
    }
    expect(checkContent(form, {})).toEqual(refused('f is required.'))
  })

  it('leave the fields beside them as they are', () => {
    const form = parseForm({
      properties: { a: { type: 'string' }, b: { type: 'object' }, c: { type: 'boolean' } },
    })
    expect(form.fields.map((field) => field.kind)).toEqual(['text', 'json', 'boolean'])
  })

  it('take answers of bounded size and depth only', () => {
    const { form } = fieldOf({ type: 'object' })
    const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])
    expect(answer(form, deep(32))).toEqual(taken(deep(32)))
    expect(answer(form, deep(33))).toEqual(refused('Use at most 32 levels of nesting.'))
    expect(answer(form, ['x'.repeat(65_533)])).toEqual(refused('Use at most 64 KiB of JSON.'))
    expect(answer(form, ['x'.repeat(65_532)])).toMatchObject({ ok: true })
    expect(answer(form, [Number.NaN])).toEqual(refused('Enter a JSON value.'))
    expect(answer(form, { a: '\0' })).toMatchObject({ ok: false })
    expect(answer(form, { '\ud800': 1 })).toMatchObject({ ok: false })
  })

  it('show a default that is JSON, and ignore one that is too deep', () => {
    expect(fieldOf({ type: 'object', default: { a: [1] } }).field).toMatchObject({ default: { a: [1] } })
    let deep: unknown = 1
    for (let level = 0; level < 20_000; level += 1) deep = [deep]
    const { field } = fieldOf({ type: 'object', default: deep, properties: deep })
    expect(field).toMatchObject({ kind: 'json', default: null })
    expect(field.notes).toContain(
      "The server's default a deeply nested value is not allowed here and was ignored.",
    )
  })
})

describe('properties that say less or more than they should', () => {
  it.each([
    ['a list of types with null', { type: ['string', 'null'] }],
    ['no type', {}],
    ['no type but a title', { title: 'F' }],
    ['true', true],
    ['a text instead of a schema', 'string'],
    ['null instead of a schema', null],
    ['a choice between text and null', { anyOf: [{ type: 'string' }, { type: 'null' }], title: 'F' }],
  ])('become a plain text: %s', (_name, property) => {
    const { form, field } = fieldOf(property)
    expect(field).toMatchObject({ kind: 'text', format: 'TEXT', notes: [] })
    expect(answer(form, 'x')).toEqual(taken('x'))
  })

  it('keep the rules inside of a choice between something and null', () => {
    const { field } = fieldOf({
      anyOf: [{ type: 'integer', minimum: 3 }, { type: 'null' }],
      default: null,
      title: 'N',
    })
    expect(field).toMatchObject({
      kind: 'number',
      integer: true,
      minimum: 3,
      default: null,
      title: 'N',
      notes: [],
    })
  })

  it('ignore a keyword whose value makes no sense, with a note', () => {
    const { form, field } = fieldOf({ type: 'number', minimum: '0', maximum: Number.NaN, multipleOf: 0 })
    expect(field).toMatchObject({
      minimum: null,
      maximum: null,
      notes: [
        'The server\'s minimum "0" makes no sense and was ignored.',
        "The server's maximum a value that is not JSON makes no sense and was ignored.",
        "The server's multipleOf 0 makes no sense and was ignored.",
      ],
    })
    expect(answer(form, -1)).toEqual(taken(-1))
    expect(fieldOf({ type: 'string', minLength: -1, maxLength: 1.5, pattern: 5 }).field).toMatchObject({
      minLength: null,
      maxLength: null,
      pattern: null,
      notes: [
        expect.stringContaining('minLength'),
        expect.stringContaining('maxLength'),
        expect.stringContaining('pattern'),
      ],
    })
  })

  it('enforce exclusive bounds, also as old drafts write them, and multiples', () => {
    const { form, field } = fieldOf({
      type: 'number',
      exclusiveMinimum: 0,
      exclusiveMaximum: 1,
      multipleOf: 0.1,
    })
    expect(field.notes).toEqual([
      'Must be more than 0.',
      'Must be less than 1.',
      'Must be a multiple of 0.1.',
    ])
    expect(answer(form, 0.3)).toEqual(taken(0.3))
    expect(answer(form, 0)).toEqual(refused('Must be more than 0.'))
    expect(answer(form, 1)).toEqual(refused('Must be less than 1.'))
    expect(answer(form, 0.35)).toEqual(refused('Must be a multiple of 0.1.'))
    const old = fieldOf({
      type: 'integer',
      minimum: 5,
      exclusiveMinimum: true,
      maximum: 9,
      exclusiveMaximum: false,
    })
    expect(answer(old.form, 5)).toEqual(refused('Must be more than 5.'))
    expect(answer(old.form, 9)).toEqual(taken(9))
  })

  it('name the keywords that are not checked', () => {
    expect(fieldOf({ type: 'string', not: { const: 'x' }, allOf: [], $ref: '#' }).field.notes).toEqual([
      'Also required by the server, not checked here: $ref, allOf, not.',
    ])
    expect(
      fieldOf({ type: 'array', items: { type: 'string', minLength: 2 }, contains: {} }).field.notes,
    ).toEqual([
      'Also required by the server, not checked here: contains.',
      'Also required by the server, not checked here: minLength.',
    ])
    expect(
      parseForm({ dependentRequired: { a: ['b'] }, $schema: 'https://example.org/other' }).notes,
    ).toEqual(['Also required by the server, not checked here: dependentRequired.'])
  })

  it('show an unknown format as plain text and warn about a secret', () => {
    const { form, field } = fieldOf({ type: 'string', format: 'ipv4' })
    expect(field).toMatchObject({
      format: 'TEXT',
      notes: ['Also required by the server, not checked here: format "ipv4".'],
    })
    expect(answer(form, 'anything')).toEqual(taken('anything'))
    expect(fieldOf({ type: 'string', format: 'password' }).field.notes).toEqual([
      'The server asks for a secret: what you enter is shown and kept as it is.',
    ])
  })

  it('are long texts above 200 characters or with a default of several lines', () => {
    expect(fieldOf({ type: 'string', maxLength: 200 }).field).toMatchObject({ multiline: false })
    expect(fieldOf({ type: 'string', maxLength: 201 }).field).toMatchObject({ multiline: true })
    expect(fieldOf({ type: 'string', default: 'a\nb' }).field).toMatchObject({
      multiline: true,
      default: 'a\nb',
    })
    expect(fieldOf({ type: 'string', format: 'uri', maxLength: 2000 }).field).toMatchObject({
      multiline: false,
    })
  })
})

describe('choices', () => {
  it('need no type', () => {
    const { form, field } = fieldOf({ enum: ['a', 2, true] })
    expect(field).toMatchObject({
      kind: 'select',
      options: [
        { value: 'a', label: 'a' },
        { value: 2, label: '2' },
        { value: true, label: 'Yes' },
      ],
    })
    expect(answer(form, 2)).toEqual(taken(2))
    expect(answer(form, '2')).toEqual(refused('Choose one of the listed options.'))
  })

  it('keep numbers as numbers', () => {
    const { form, field } = fieldOf({ type: 'integer', enum: [1, 2.5, 3, '4'], default: 3 })
    expect(field).toMatchObject({
      kind: 'select',
      options: [
        { value: 1, label: '1' },
        { value: 3, label: '3' },
      ],
      default: 3,
      notes: ["2 of the server's options cannot be answers here and were ignored."],
    })
    expect(answer(form, 3)).toEqual(taken(3))
  })

  it('show the value where an option has no title, and repeat no option', () => {
    expect(
      fieldOf({ type: 'string', oneOf: [{ const: 'a' }, { const: 'b', title: 'B!' }] }).field,
    ).toMatchObject({
      options: [
        { value: 'a', label: 'a' },
        { value: 'b', label: 'B!' },
      ],
    })
    expect(fieldOf({ type: 'string', enum: ['a', 'b', 'a'] }).field).toMatchObject({
      options: [{ value: 'a' }, { value: 'b' }],
      notes: [],
    })
  })

  it('ignore enumNames of another length', () => {
    expect(fieldOf({ type: 'string', enum: ['a', 'b'], enumNames: ['A'] }).field).toMatchObject({
      options: [{ label: 'a' }, { label: 'b' }],
    })
  })

  it('of one constant are a choice of one', () => {
    const { form, field } = fieldOf({ type: 'string', const: 'DELETE' })
    expect(field).toMatchObject({ kind: 'select', options: [{ value: 'DELETE', label: 'DELETE' }] })
    expect(answer(form, 'delete')).toEqual(refused('Choose one of the listed options.'))
  })

  it.each([
    ['a single choice', { type: 'string', enum: [] }],
    ['a multiple choice', { type: 'array', items: { enum: [] } }],
  ])('without options say that they cannot be answered: %s', (_name, property) => {
    const required = fieldOf(property)
    expect(required.field).toMatchObject({ kind: 'select', options: [] })
    expect(required.field.notes).toEqual([
      'The server offers no option for this required field: only Decline and Dismiss are possible.',
    ])
    expect(answer(required.form, 'x')).toEqual(
      refused('The server offers no option here, so nothing can be chosen.'),
    )
    const optional = fieldOf(property, false)
    expect(optional.field.notes).toEqual([
      'The server offers no option for this field: it can only be left out.',
    ])
    expect(checkContent(optional.form, {})).toEqual({ ok: true, content: null })
  })

  it('read oneOf in the items of a list as anyOf', () => {
    const { form, field } = fieldOf({
      type: 'array',
      items: { oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] },
    })
    expect(field).toMatchObject({
      kind: 'multiSelect',
      options: [
        { value: 'a', label: 'A' },
        { value: 'b', label: 'b' },
      ],
    })
    expect(answer(form, ['b', 'a'])).toEqual(taken(['a', 'b']))
    expect(answer(form, ['a', 'a'])).toEqual(refused('Each option once.'))
  })

  it('of a list of texts without options are free entries, in the order given', () => {
    for (const items of [{ type: 'string' }, {}, true, undefined]) {
      const { form, field } = fieldOf({ type: 'array', items, minItems: 1, maxItems: 3 })
      expect(field).toMatchObject({ kind: 'multiSelect', options: [], minItems: 1, maxItems: 3, notes: [] })
      expect(answer(form, ['b', 'a', 'b'])).toEqual(taken(['b', 'a', 'b']))
      expect(answer(form, [])).toEqual(refused('Enter at least 1.'))
      expect(answer(form, ['1', '2', '3', '4'])).toEqual(refused('Enter at most 3.'))
      expect(answer(form, [1])).toEqual(refused('Enter a list of texts.'))
      expect(answer(form, 'a')).toEqual(refused('Enter a list of texts.'))
    }
    const unique = fieldOf({ type: 'array', items: { type: 'string' }, uniqueItems: true })
    expect(unique.field.notes).toEqual(['Each text once.'])
    expect(answer(unique.form, ['a', 'a'])).toEqual(refused('Each text once.'))
  })

  it('of 5,000 options are kept whole', () => {
    const { form } = fieldOf({
      type: 'string',
      enum: Array.from({ length: 5_000 }, (_, index) => `o${index}`),
    })
    expect(answer(form, 'o4999')).toEqual(taken('o4999'))
  })
})

describe('defaults', () => {
  it.each([
    ['text', { type: 'string', default: 'eu-1' }],
    ['a number', { type: 'integer', minimum: 1, default: 1 }],
    ['a boolean', { type: 'boolean', default: false }],
    ['an option', { enum: ['a', 'b'], default: 'b' }],
    ['an email', { type: 'string', format: 'email', default: 'ada@example.org' }],
    ['a matching text', { type: 'string', pattern: '^v[0-9]+$', default: 'v1' }],
  ])('are kept when they fit: %s', (_name, property) => {
    expect(fieldOf(property).field).toMatchObject({ default: property.default, notes: [] })
  })

  it('of a multiple choice come in the order of the options', () => {
    expect(fieldOf({ type: 'array', items: { enum: ['a', 'b'] }, default: ['b', 'a'] }).field).toMatchObject({
      default: ['a', 'b'],
    })
  })

  it.each([
    ['another type', { type: 'string', default: 5 }, '5'],
    ['outside of the bounds', { type: 'number', maximum: 1, default: 2 }, '2'],
    ['outside of the options', { enum: ['a'], default: 'b' }, '"b"'],
    ['one that is no date', { type: 'string', format: 'date', default: '2026-02-30' }, '"2026-02-30"'],
    ['one that does not match', { type: 'string', pattern: '^v[0-9]+$', default: 'x' }, '"x"'],
    ['a text for a boolean', { type: 'boolean', default: 'true' }, '"true"'],
    ['not a list', { type: 'array', items: { enum: ['a'] }, default: 'a' }, '"a"'],
  ])('are ignored with a note when they do not fit: %s', (_name, property, shown) => {
    expect(fieldOf(property).field).toMatchObject({
      default: null,
      notes: [`The server's default ${shown} is not allowed here and was ignored.`],
    })
  })

  it('of null or of an empty text are none', () => {
    expect(fieldOf({ type: 'number', default: null }).field).toMatchObject({ default: null, notes: [] })
    expect(fieldOf({ type: 'string', default: '' }).field).toMatchObject({ default: null, notes: [] })
  })

  it('are never filled in for the person', () => {
    const { form } = fieldOf({ type: 'string', default: 'x' })
    expect(checkContent(form, {})).toEqual(refused('f is required.'))
  })
})

describe('required', () => {
  it('adds a text for a name that has no property, with one note', () => {
    const form = parseForm({ properties: { a: { type: 'boolean' } }, required: ['a', 'b'] })
    expect(form.fields).toMatchObject([
      { name: 'a' },
      { kind: 'text', name: 'b', title: 'b', required: true },
    ])
    expect(form.notes).toEqual(['The server requires "b" but did not describe it.'])
    expect(form.confirmation).toBeNull()
    expect(checkContent(form, { a: true, b: 'x' })).toEqual({ ok: true, content: { a: true, b: 'x' } })
  })

  it('is ignored when it is not a list, and so are entries that are no names', () => {
    expect(parseForm({ properties: { a: {} }, required: 'a' }).fields).toMatchObject([{ required: false }])
    expect(parseForm({ properties: { a: {} }, required: [5, null, 'a'] }).fields).toMatchObject([
      { required: true },
    ])
  })
})

describe('names', () => {
  it('come in the order of the schema and are their own titles', () => {
    const form = parseForm({ properties: { zeta_key: {}, alpha: { title: '  ' }, Mid: { title: 'Middle' } } })
    expect(form.fields.map((field) => field.title)).toEqual(['zeta_key', 'alpha', 'Middle'])
  })

  it('such as __proto__, constructor and toString are data', () => {
    const schema = JSON.parse(
      '{"properties": {"__proto__": {"type": "string"}, "constructor": {"type": "string"}, "toString": {"type": "number"}},' +
        ' "required": ["__proto__", "constructor"]}',
    )
    const form = parseForm(schema)
    expect(form.fields.map((field) => [field.name, field.required])).toEqual([
      ['__proto__', true],
      ['constructor', true],
      ['toString', false],
    ])
    expect(checkContent(form, {})).toEqual({
      ok: false,
      fields: [
        { name: '__proto__', messages: ['__proto__ is required.'] },
        { name: 'constructor', messages: ['constructor is required.'] },
      ],
    })
    const content = JSON.parse('{"__proto__": "p", "constructor": "c"}')
    const verdict = checkContent(form, content)
    expect(JSON.stringify(verdict)).toBe('{"ok":true,"content":{"__proto__":"p","constructor":"c"}}')
    expect(({} as Record<string, unknown>).p).toBeUndefined()
  })

  it('with control or bidirectional characters stay exact, and are shown by their codes', () => {
    const name = 'user\u202egpj\u0007'
    const form = parseForm({ properties: { [name]: { type: 'string' } }, required: [name] })
    expect(form.fields[0]).toMatchObject({ name, title: 'user⟨U+202E⟩gpj⟨U+0007⟩' })
    expect(checkContent(form, { [name]: 'x' })).toEqual({ ok: true, content: { [name]: 'x' } })
  })

  it('of fields and options are shown without hidden characters', () => {
    const { field } = fieldOf({
      title: 'A\u200bB',
      description: 'C\u202eD',
      oneOf: [{ const: 'x\u200b', title: 'X\u2066' }, { const: 'y\u200b' }],
    })
    expect(field).toMatchObject({
      title: 'A⟨U+200B⟩B',
      description: 'C⟨U+202E⟩D',
      options: [
        { value: 'x\u200b', label: 'X⟨U+2066⟩' },
        { value: 'y\u200b', label: 'y⟨U+200B⟩' },
      ],
    })
  })

  it('may be empty', () => {
    expect(parseForm({ properties: { '': { type: 'string' } } }).fields[0]).toMatchObject({
      name: '',
      title: '(no name)',
    })
  })
})

describe('confirmations', () => {
  const confirm = { type: 'boolean', title: 'Sure?' }

  it('are one required boolean and nothing else', () => {
    expect(parseForm({ properties: { confirm }, required: ['confirm'] }).confirmation).toBe('confirm')
    expect(parseForm({ properties: { confirm } }).confirmation).toBeNull()
    expect(parseForm({ properties: { confirm, why: {} }, required: ['confirm'] }).confirmation).toBeNull()
    expect(
      parseForm({ properties: { confirm: { type: 'string' } }, required: ['confirm'] }).confirmation,
    ).toBeNull()
  })

  it('are none when the server takes only No', () => {
    const no = parseForm({ properties: { confirm: { ...confirm, const: false } }, required: ['confirm'] })
    expect(no.confirmation).toBeNull()
    expect(no.fields[0]?.notes).toEqual(['The server takes only No.'])
    expect(checkContent(no, { confirm: true })).toEqual({
      ok: false,
      fields: [{ name: 'confirm', messages: ['Choose No.'] }],
    })
    const yes = parseForm({ properties: { confirm: { ...confirm, enum: [true] } }, required: ['confirm'] })
    expect(yes.confirmation).toBe('confirm')
    const both = parseForm({
      properties: { confirm: { ...confirm, enum: [true, false] } },
      required: ['confirm'],
    })
    expect(both.fields[0]).toMatchObject({ kind: 'boolean', only: null, notes: [] })
  })
})
