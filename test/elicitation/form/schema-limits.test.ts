import { expect, it } from 'vitest'
import { checkContent } from '../../../src/elicitation/form/check.ts'
import { parseForm } from '../../../src/elicitation/form/parse.ts'
import { checkSchemaLimits } from '../../../src/elicitation/form/schema-limits.ts'

const texts = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, { type: 'string' }]))

it('lets ordinary schemas pass', () => {
  expect(checkSchemaLimits({})).toEqual([])
  expect(checkSchemaLimits({ type: 'object', properties: texts(100), required: ['p0', 'p99'] })).toEqual([])
})

it.each([[null], [[]], ['{}'], [5], [undefined]])('refuses what is not an object: %j', (schema) => {
  expect(checkSchemaLimits(schema)).toEqual(['requestedSchema must be a JSON object.'])
})

it('refuses more than 100 properties, those that are only required among them', () => {
  const message = 'requestedSchema has 101 properties; the most is 100. Ask for less at once.'
  expect(checkSchemaLimits({ properties: texts(101) })).toEqual([message])
  expect(checkSchemaLimits({ properties: texts(100), required: ['other'] })).toEqual([message])
})

it('refuses more than 64 KiB of JSON, counted in UTF-8', () => {
  const message = 'requestedSchema is larger than 64 KiB. Ask for less at once.'
  const frame = JSON.stringify({ title: '' }).length
  expect(checkSchemaLimits({ title: 'é'.repeat((65_536 - frame) / 2) })).toEqual([])
  expect(checkSchemaLimits({ title: 'é'.repeat((65_536 - frame) / 2 + 1) })).toEqual([message])
})

it('refuses more than 1,000 options in a field, wherever they are listed', () => {
  const values = (count: number) => Array.from({ length: count }, (_, index) => index)
  const constants = (count: number) => values(count).map((value) => ({ const: value }))
  const message = 'The property "f" has 1001 options; the most is 1000.'
  expect(checkSchemaLimits({ properties: { f: { enum: values(1_000) } } })).toEqual([])
  for (const field of [
    { enum: values(1_001) },
    { oneOf: constants(1_001) },
    { type: 'array', items: { enum: values(1_001) } },
    { type: 'array', items: { anyOf: constants(1_001) } },
    { anyOf: [{ enum: values(1_001) }, { type: 'null' }] },
  ]) {
    expect(checkSchemaLimits({ properties: { f: field } })).toEqual([message])
  }
})

it('refuses deep nesting, however deep, without falling over', () => {
  let deep: unknown = 'x'
  for (let level = 0; level < 100_000; level += 1) deep = { items: deep }
  expect(checkSchemaLimits(deep)).toEqual([
    'requestedSchema nests more than 32 levels deep. Send a flat object of simple properties.',
  ])
  expect(parseForm(deep).fields).toEqual([])
  expect(parseForm({ properties: { f: deep } }).fields).toMatchObject([{ kind: 'json' }])
})

it('lets every character pass: names and values stay exact', () => {
  const schema = { properties: { '\0\ud800': { title: 'a\0', enum: ['\0', '\udc00'] } } }
  expect(checkSchemaLimits(schema)).toEqual([])
  expect(checkContent(parseForm(schema), { '\0\ud800': '\0' })).toEqual({
    ok: true,
    content: { '\0\ud800': '\0' },
  })
})

it('refuses what is not JSON', () => {
  expect(checkSchemaLimits({ a: 1n })).toEqual(['requestedSchema must be JSON.'])
})
