import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSchema, parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import * as documents from '../../src/cli/documents.ts'

const schema = buildSchema(readFileSync(join(import.meta.dirname, '..', '..', 'schema.graphql'), 'utf8'))

test.each(Object.entries(documents))('%s is valid against the schema', (_, document) => {
  expect(validate(schema, parse(document)).map(({ message }) => message)).toEqual([])
})
