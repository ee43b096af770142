import { z } from 'zod'
import { messageBytesMax } from '../base/limits.ts'
import { checkSchemaLimits } from '../elicitation/form/schema-limits.ts'

const shape = z
  .array(
    z.looseObject({
      question: z.string().min(1),
      header: z.string().nullish(),
      multiSelect: z.boolean().nullish(),
      options: z.array(z.looseObject({ label: z.string().min(1), description: z.string().nullish() })).min(1),
    }),
  )
  .min(1)
  .refine((questions) => new Set(questions.map(({ question }) => question)).size === questions.length)

export interface UserQuestionForm {
  form: { message: string; requestedSchema: Record<string, unknown> }
  /** What the tool takes as `answers`: the text of each question → the label chosen, several joined by commas. */
  answersOf(content: Record<string, unknown> | null): Record<string, string>
}

/**
 * The questions of Claude Code's tool AskUserQuestion as a form: each is a choice among its options. Null when they are
 * not of the known shape, or too many for a form; the person then sees the bare arguments.
 */
export function userQuestionForm(questions: unknown): UserQuestionForm | null {
  const parsed = shape.safeParse(questions)
  if (!parsed.success) return null
  const asked = parsed.data.map((each, i) => ({ ...each, name: `question_${i + 1}` }))
  const requestedSchema = {
    type: 'object',
    properties: Object.fromEntries(
      asked.map(({ name, question, header, multiSelect, options }) => {
        const choices = options.map(({ label, description }) => ({
          const: label,
          title: description?.trim() ? `${label}: ${description}` : label,
        }))
        const described = { title: question, ...(header?.trim() ? { description: header } : {}) }
        return [
          name,
          multiSelect
            ? { type: 'array', ...described, minItems: 1, items: { anyOf: choices } }
            : { type: 'string', ...described, oneOf: choices },
        ]
      }),
    ),
    required: asked.map(({ name }) => name),
  }
  const message = asked.length === 1 ? asked[0]!.question : `The agent has ${asked.length} questions.`
  if (Buffer.byteLength(message) > messageBytesMax || checkSchemaLimits(requestedSchema).length > 0)
    return null
  return {
    form: { message, requestedSchema },
    answersOf: (content) =>
      Object.fromEntries(
        asked.flatMap(({ name, question }) => {
          const answer = content?.[name]
          if (answer === undefined) return []
          return [[question, Array.isArray(answer) ? answer.join(', ') : String(answer)]]
        }),
      ),
  }
}
