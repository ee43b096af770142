import { readFileSync } from 'node:fs'
import { buildSchema, printSchema } from 'graphql'
import { expect, test } from 'vitest'
import { createSchema } from '../../src/graphql/schema.ts'

const file = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')
const schema = createSchema()

test('schema.graphql is in step with the code, and is a schema', () => {
  expect(file).toBe(`${printSchema(schema)}\n`)
  expect(() => buildSchema(file)).not.toThrow()
})

const enums = {
  SessionStatus: 'WAITING RUNNING NEEDS_INPUT FAILED ARCHIVED',
  ElicitationStatus: 'PENDING ACCEPT DECLINE CANCEL EXPIRED',
  ElicitationAction: 'ACCEPT DECLINE CANCEL',
  LostReason: 'EXPIRED STRANDED',
  Runtime: 'CLAUDE_CODE CODEX OTHER',
  Listening: 'LISTENING SILENT NOT_YET',
  Role: 'VIEWER RESPONDER LAUNCHER OPERATOR ADMIN',
  NeedsInputReason: 'TURN_ENDED ELICITATION',
  Cause: 'ANSWERED DISMISSED EXPIRED SESSION_ENDED WITHDRAWN',
  Mode: 'FORM URL',
  TextFormat: 'TEXT EMAIL URI DATE DATE_TIME',
}

test.each(Object.entries(enums))(
  'the enum %s has exactly the values that clients were promised',
  (name, values) => {
    const type = schema.getType(name) as { getValues(): readonly { name: string }[] }
    expect(
      type
        .getValues()
        .map((value) => value.name)
        .toSorted(),
    ).toEqual(values.split(' ').toSorted())
  },
)

test('every mutation returns a union of its success and refusals that are user errors', () => {
  const userErrors = new Set(
    schema
      .getPossibleTypes(schema.getType('UserError') as Parameters<typeof schema.getPossibleTypes>[0])
      .map(({ name }) => name),
  )
  for (const [name, { type }] of Object.entries(schema.getMutationType()!.getFields())) {
    const title =
      name === 'respondToElicitations' ? 'RespondToElicitation' : name.charAt(0).toUpperCase() + name.slice(1)
    expect(String(type)).toBe(name === 'respondToElicitations' ? `[${title}Result!]!` : `${title}Result!`)
    const union = schema.getType(`${title}Result`) as Parameters<typeof schema.getPossibleTypes>[0]
    const members = schema.getPossibleTypes(union).map((member) => member.name)
    expect(members).toContain(`${title}Success`)
    for (const member of members.filter((each) => each !== `${title}Success`))
      expect(userErrors).toContain(member)
  }
})
