import { readFileSync, writeFileSync } from 'node:fs'
import { printSchema } from 'graphql'
import { createSchema } from './schema.ts'

// `node src/graphql/print.ts` writes schema.graphql; with --check it fails when that is out of step.
const file = new URL('../../schema.graphql', import.meta.url)
const printed = `${printSchema(createSchema())}\n`

if (!process.argv.includes('--check')) writeFileSync(file, printed)
else if (readFileSync(file, 'utf8') !== printed) {
  console.error('schema.graphql is out of step with src/graphql. Run: node src/graphql/print.ts')
  process.exitCode = 1
}
