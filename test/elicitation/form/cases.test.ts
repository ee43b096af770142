import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { describe, expect, it } from 'vitest'
import { checkContent } from '../../../src/elicitation/form/check.ts'
import { parseForm } from '../../../src/elicitation/form/parse.ts'
import cases from './cases.json' with { type: 'json' }

const validator = new AjvJsonSchemaValidator()

describe.each(cases)('the form shape $id', ({ field, valid, invalid }) => {
  const schema = { type: 'object', properties: { f: field }, required: ['f'] }
  const form = parseForm(schema)

  it('is shown with its title and without a remark', () => {
    expect(form.fields).toHaveLength(1)
    expect(form.fields[0]).toMatchObject({ name: 'f', title: field.title, required: true, notes: [] })
  })

  it.each(valid.map((value) => [JSON.stringify(value), value]))(
    'takes %s, as the SDK does',
    (_text, value) => {
      expect(checkContent(form, { f: value })).toEqual({ ok: true, content: { f: value } })
      expect(validator.getValidator(schema as never)({ f: value }).valid).toBe(true)
    },
  )

  it.each(invalid.map(([value, message]) => [JSON.stringify(value), message, value]))(
    'refuses %s, saying: %s',
    (_text, message, value) => {
      expect(checkContent(form, { f: value })).toEqual({
        ok: false,
        fields: [{ name: 'f', messages: [message] }],
      })
    },
  )
})
