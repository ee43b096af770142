import { z } from 'zod'
import { isStorable } from '../base/json.ts'
import { InvalidInputError } from '../base/refusal.ts'

/** Text that PostgreSQL can hold. */
export const text = (charactersMax: number) =>
  z
    .string()
    .max(charactersMax, `Use at most ${charactersMax} characters.`)
    .refine(isStorable, 'Use no U+0000 and no unpaired surrogate.')

/** The input as the schema says, or a refusal that names each field that is wrong. */
export function parseInput<Output>(schema: z.ZodType<Output>, input: unknown): Output {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  const byField = Map.groupBy(parsed.error.issues, ({ path }) => path.join('.'))
  throw new InvalidInputError(
    [...byField].map(([name, issues]) => ({ name, messages: issues.map(({ message }) => message) })),
  )
}
