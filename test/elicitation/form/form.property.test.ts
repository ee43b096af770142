import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Content, checkContent, checkField } from '../../../src/elicitation/form/check.ts'
import type { Form, FormField, NumberField, TextField } from '../../../src/elicitation/form/field.ts'
import { parseForm } from '../../../src/elicitation/form/parse.ts'
import { checkSchemaLimits } from '../../../src/elicitation/form/schema-limits.ts'

const hostileNames = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '',
  '0',
  '10',
  'a\u202eb',
  'é',
]
const names = fc.oneof(fc.constantFrom(...hostileNames), fc.string({ maxLength: 6 }))
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.anything({ withNullPrototype: true, withBigInt: true, maxDepth: 3 }),
)

/** An object of keywords, some with values they should have, some with any. */
function keywords(shapes: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> {
  const wild = Object.fromEntries(
    Object.entries(shapes).map(([name, values]) => [
      name,
      fc.oneof({ weight: 6, arbitrary: values }, anything),
    ]),
  )
  return fc.record(wild, { requiredKeys: [] })
}

const primitive = fc.oneof(
  fc.string({ maxLength: 4 }),
  fc.integer({ min: -3, max: 9 }),
  fc.boolean(),
  fc.constant(null),
)
const constants = fc.array(fc.record({ const: primitive, title: fc.string() }, { requiredKeys: [] }), {
  maxLength: 4,
})
const typeNames = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null', 'file']
const type = fc.oneof(
  fc.constantFrom(...typeNames),
  fc.array(fc.constantFrom(...typeNames), { maxLength: 2 }),
)
const listed = {
  enum: fc.array(primitive, { maxLength: 5 }),
  enumNames: fc.array(fc.string(), { maxLength: 5 }),
  oneOf: constants,
  anyOf: fc.oneof(constants, fc.array(keywords({ type }), { maxLength: 2 })),
  const: primitive,
}
const length = fc.integer({ min: -1, max: 6 })

/** A property as strangers write it: any keyword beside any other, any value within. */
const wildProperty = fc.oneof(
  {
    weight: 8,
    arbitrary: keywords({
      type,
      title: fc.string(),
      description: fc.string(),
      ...listed,
      items: keywords({ type, ...listed }),
      minLength: length,
      maxLength: length,
      pattern: fc.constantFrom('^a+$', '(', '(?=a)', '^(a+)+$', '', '.'),
      format: fc.constantFrom('email', 'uri', 'date', 'date-time', 'password', 'time'),
      minimum: fc.double(),
      maximum: fc.integer(),
      exclusiveMinimum: fc.oneof(fc.integer(), fc.boolean()),
      exclusiveMaximum: fc.double(),
      multipleOf: fc.double(),
      minItems: length,
      maxItems: length,
      uniqueItems: fc.boolean(),
      default: primitive,
      $ref: fc.string(),
    }),
  },
  anything,
)

const wildSchema = fc.oneof(
  {
    weight: 8,
    arbitrary: keywords({
      type: fc.constant('object'),
      properties: fc.dictionary(names, wildProperty, { maxKeys: 5 }),
      required: fc.array(names, { maxLength: 4 }),
      additionalProperties: fc.boolean(),
    }),
  },
  anything,
)

/** A property of which every constraint can be met. */
const soundProperty = fc.oneof(
  fc.record(
    {
      type: fc.constant('string'),
      title: fc.string(),
      minLength: fc.integer({ min: 0, max: 5 }),
      maxLength: fc.integer({ min: 5, max: 300 }),
      pattern: fc.constantFrom('^.+$', '^.*$', '', '(?!x)', '('),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record({
    type: fc.constant('string'),
    format: fc.constantFrom('email', 'uri', 'date', 'date-time', 'ipv4'),
  }),
  fc.record(
    {
      type: fc.constantFrom('number', 'integer'),
      minimum: fc.integer({ min: -9, max: 0 }),
      maximum: fc.integer({ min: 1, max: 9 }),
      exclusiveMinimum: fc.integer({ min: -9, max: -1 }),
      exclusiveMaximum: fc.integer({ min: 2, max: 9 }),
      multipleOf: fc.constantFrom(1, 0.5, 0.1),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record({ type: fc.constantFrom('boolean', ['boolean', 'null']) }),
  fc.record({
    enum: fc.array(
      primitive.filter((value) => value !== null),
      { minLength: 1, maxLength: 5 },
    ),
  }),
  fc.record(
    {
      type: fc.constant('array'),
      minItems: fc.integer({ min: 0, max: 1 }),
      maxItems: fc.integer({ min: 1, max: 9 }),
      items: fc.oneof(
        fc.record({ enum: fc.array(fc.string(), { minLength: 1, maxLength: 5 }) }),
        fc.record({ type: fc.constant('string') }),
      ),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record({ type: fc.constantFrom('object', 'file') }),
)

const soundSchema = fc.dictionary(names, soundProperty, { maxKeys: 6 }).chain((properties) =>
  fc.record({
    type: fc.constant('object'),
    properties: fc.constant(properties),
    required: fc.subarray(Object.keys(properties)),
  }),
)

const instants = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString())

function textsFor(field: TextField): fc.Arbitrary<string> {
  switch (field.format) {
    case 'EMAIL':
      return fc.constant('ada@example.org')
    case 'URI':
      return fc.webUrl()
    case 'DATE':
      return instants.map((instant) => instant.slice(0, 10))
    case 'DATE_TIME':
      return instants
    case 'TEXT': {
      const minLength = Math.max(field.minLength ?? 1, 1)
      const maxLength = Math.min(field.maxLength ?? minLength + 20, minLength + 20)
      return fc.string({ unit: fc.constantFrom('a', 'Z', '7', 'é', '🙂'), minLength, maxLength })
    }
  }
}

/** Numbers counted in tenths, so that a multiple of 0.1 is told exactly. */
function numbersFor(field: NumberField): fc.Arbitrary<number> {
  const step = (field.multipleOf ?? 0.1) * 10
  return fc
    .integer({ min: -90, max: 90 })
    .filter((tenths) => tenths % step === 0 && (!field.integer || tenths % 10 === 0))
    .map((tenths) => tenths / 10)
    .filter((value) => value >= (field.minimum ?? value) && value <= (field.maximum ?? value))
    .filter((value) => value > (field.exclusiveMinimum ?? -10) && value < (field.exclusiveMaximum ?? 10))
}

/** Answers that a person could make with the controls that a client builds from the field. */
function answersTo(field: FormField): fc.Arbitrary<unknown> {
  switch (field.kind) {
    case 'text':
      return textsFor(field)
    case 'number':
      return numbersFor(field)
    case 'boolean':
      return fc.boolean()
    case 'select':
      return fc.constantFrom(...field.options.map((option) => option.value))
    case 'multiSelect': {
      const minLength = field.minItems ?? 0
      const maxLength = field.maxItems ?? 20
      return field.options.length === 0
        ? fc.array(fc.string({ unit: 'grapheme' }), { minLength, maxLength })
        : fc.shuffledSubarray(
            field.options.map((option) => option.value),
            { minLength, maxLength: Math.min(maxLength, field.options.length) },
          )
    }
    case 'json':
      return fc.jsonValue({ maxDepth: 5, stringUnit: 'grapheme' })
  }
}

function contentFor(form: Form): fc.Arbitrary<Content> {
  const answered = form.fields.map((field) => {
    const answer = fc.tuple(fc.constant(field.name), answersTo(field))
    return field.required ? answer : fc.option(answer)
  })
  return fc
    .tuple(...answered)
    .map((entries) => Object.fromEntries(entries.filter((entry) => entry !== null)) as Content)
}

describe('the parse of a schema', () => {
  it('never throws, whatever it is given, and comes out the same each time', () => {
    fc.assert(
      fc.property(wildSchema, (schema) => {
        const form = parseForm(schema)
        expect(parseForm(schema)).toEqual(form)
        const limits = checkSchemaLimits(schema)
        expect(limits.every((message) => message.length > 0)).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })

  it('loses no property, in order', () => {
    fc.assert(
      fc.property(fc.dictionary(names, wildProperty, { maxKeys: 8 }), (properties) => {
        expect(parseForm({ properties }).fields.map((field) => field.name)).toEqual(Object.keys(properties))
      }),
    )
  })

  it('keeps only defaults that are answers', () => {
    fc.assert(
      fc.property(wildSchema, (schema) => {
        for (const field of parseForm(schema).fields) {
          if (field.default !== null)
            expect(checkField(field, field.default)).toEqual({ ok: true, value: field.default })
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('the check of an answer', () => {
  it('never throws, and names a field in every refusal', () => {
    fc.assert(
      fc.property(wildSchema, fc.oneof(anything, fc.dictionary(names, anything)), (schema, content) => {
        const verdict = checkContent(parseForm(schema), content)
        if (verdict.ok) return
        expect(verdict.fields.length).toBeGreaterThan(0)
        for (const { messages } of verdict.fields) expect(messages.length).toBeGreaterThan(0)
      }),
      { numRuns: 2_000 },
    )
  })

  it('takes what the form offers, and keeps it as it is but for order', () => {
    const offered = soundSchema.chain((schema) => {
      const form = parseForm(schema)
      return fc.tuple(fc.constant(form), contentFor(form))
    })
    fc.assert(
      fc.property(offered, ([form, content]) => {
        const verdict = checkContent(form, content)
        const sorted = (kept: Content | null) =>
          Object.entries(kept ?? {}).map(([name, value]) => [
            name,
            Array.isArray(value) ? value.toSorted() : value,
          ])
        expect(verdict).toMatchObject({ ok: true })
        if (!verdict.ok || (form.confirmation !== null && Object.keys(content).length === 0)) return
        expect(sorted(verdict.content)).toEqual(sorted(content))
        // What was kept is an answer again, and the same one.
        expect(checkContent(form, verdict.content)).toEqual(verdict)
      }),
      { numRuns: 2_000 },
    )
  })

  it('refuses a form with a required field left out, naming it', () => {
    const incomplete = soundSchema
      .map(parseForm)
      .filter((form) => form.confirmation === null && form.fields.some((field) => field.required))
      .chain((form) =>
        fc.tuple(
          fc.constant(form),
          contentFor(form),
          fc.constantFrom(...form.fields.filter((field) => field.required)),
        ),
      )
    fc.assert(
      fc.property(incomplete, ([form, content, left]) => {
        const { [left.name]: _left, ...rest } = content
        const name = left.name
        expect(checkContent(form, rest)).toEqual({
          ok: false,
          fields: [{ name, messages: [`${left.title} is required.`] }],
        })
      }),
    )
  })

  it('refuses a value of another type, naming the field', () => {
    const wrong = { text: 5, number: '5', boolean: 'true', select: {}, multiSelect: 'a', json: Number.NaN }
    const spoilt = soundSchema
      .map(parseForm)
      .filter((form) => form.fields.length > 0)
      .chain((form) => fc.tuple(fc.constant(form), contentFor(form), fc.constantFrom(...form.fields)))
    fc.assert(
      fc.property(spoilt, ([form, content, field]) => {
        const verdict = checkContent(form, { ...content, [field.name]: wrong[field.kind] })
        expect(verdict).toMatchObject({ ok: false, fields: [{ name: field.name }] })
      }),
    )
  })

  it('refuses keys that the form has not, each by its name', () => {
    fc.assert(
      fc.property(soundSchema, names, (schema, name) => {
        const form = parseForm(schema)
        fc.pre(form.fields.length > 0 && !Object.hasOwn(schema.properties, name))
        const verdict = checkContent(form, Object.fromEntries([[name, 'x']]))
        expect(verdict.ok ? [] : verdict.fields.map((field) => field.name)).toContain(name)
      }),
    )
  })
})
