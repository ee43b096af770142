import { isRecord, isStorable, type Json, jsonBytes, jsonFault, own } from '../../base/json.ts'
import {
  answerProblemsMax,
  jsonAnswerBytesMax,
  jsonAnswerDepthMax,
  patternStepsMax,
} from '../../base/limits.ts'
import type { FieldProblem } from '../../base/refusal.ts'
import { codePointLength, makeVisible } from '../../base/text.ts'
import type {
  BooleanField,
  Form,
  FormField,
  MultiSelectField,
  NumberField,
  SelectField,
  TextField,
} from './field.ts'
import { formatProblem } from './formats.ts'
import { patternOf } from './pattern.ts'
import { show } from './show.ts'

export type Content = Record<string, Json>

export type ContentVerdict = { ok: true; content: Content | null } | { ok: false; fields: FieldProblem[] }

/** The value to keep (undefined: the field is left out), or what is wrong, as sentences that say what to enter. */
export type FieldVerdict = { ok: true; value: Json | undefined } | { ok: false; messages: string[] }

/**
 * Checks the content of an accept against the form; the rules are the same on every surface. What is kept has the order
 * of the form, multiple choices in the order of the schema, and no key for what was left empty; nothing at all is null.
 * Absent content is the empty object, and on a confirmation that means yes. A problem named "" is about the
 * content as a whole.
 */
export function checkContent(form: Form, content: unknown): ContentVerdict {
  if (content !== undefined && content !== null && !isRecord(content)) {
    return {
      ok: false,
      fields: [{ name: '', messages: [`Send the content as a JSON object. ${fieldNames(form)}`] }],
    }
  }
  const given = withConfirmation(form, content ?? {})
  const kept = new Map<string, Json>()
  const problems: FieldProblem[] = []
  const known = new Set<string>()

  for (const field of form.fields) {
    known.add(field.name)
    const verdict = checkField(field, own(given, field.name))
    if (!verdict.ok) problems.push({ name: field.name, messages: verdict.messages })
    else if (verdict.value !== undefined) kept.set(field.name, verdict.value)
  }
  for (const [name, value] of Object.entries(given)) {
    if (problems.length >= answerProblemsMax) break
    if (known.has(name) || value === undefined) continue
    const message = form.anyFlatObject ? flatValueProblem(name, value) : unknownName(form, name)
    if (message) problems.push({ name, messages: [message] })
    else kept.set(name, value as Json)
  }

  if (problems.length > 0) return { ok: false, fields: problems }
  return { ok: true, content: kept.size > 0 ? Object.fromEntries(kept) : null }
}

function withConfirmation(form: Form, content: Record<string, unknown>): Record<string, unknown> {
  return form.confirmation !== null && Object.keys(content).length === 0
    ? Object.fromEntries([[form.confirmation, true]])
    : content
}

function fieldNames(form: Form): string {
  if (form.fields.length === 0) return form.anyFlatObject ? 'It needs no fields.' : 'The form has no fields.'
  const names = form.fields.slice(0, 20).map((field) => show(field.name))
  return `The fields are: ${names.join(', ')}${form.fields.length > names.length ? ', …' : ''}.`
}

function unknownName(form: Form, name: string): string {
  return `The form has no field ${show(name)}: leave it out. ${fieldNames(form)}`
}

const notStorable = 'Remove the characters that are not text (U+0000, or half of a surrogate pair).'

function flatValueProblem(name: string, value: unknown): string | null {
  const texts = Array.isArray(value) ? [name, ...value] : [name, value]
  if (texts.some((text) => typeof text === 'string' && !isStorable(text))) return notStorable
  const fine = Array.isArray(value)
    ? value.every((entry) => typeof entry === 'string')
    : typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
  return fine ? null : 'Send text, a number, true or false, or a list of texts.'
}

/** Checks one answer; undefined is none given. Also decides whether a server's default fits its field. */
export function checkField(field: FormField, value: unknown): FieldVerdict {
  if (value === undefined) return left(field)
  switch (field.kind) {
    case 'text':
      return checkText(field, value)
    case 'number':
      return checkNumber(field, value)
    case 'boolean':
      return checkBoolean(field, value)
    case 'select':
      return checkSelect(field, value)
    case 'multiSelect':
      return checkMultiSelect(field, value)
    case 'json':
      return checkJson(value)
  }
}

function left(field: FormField): FieldVerdict {
  return field.required ? refused(`${field.title} is required.`) : { ok: true, value: undefined }
}

function refused(...messages: string[]): FieldVerdict {
  return { ok: false, messages }
}

function verdict(value: Json, messages: string[]): FieldVerdict {
  return messages.length > 0 ? { ok: false, messages } : { ok: true, value }
}

function checkText(field: TextField, value: unknown): FieldVerdict {
  if (value === null) return refused('Enter text, or leave the field out.')
  if (Array.isArray(value)) return refused('Enter one text value, not a list.')
  if (typeof value !== 'string') return refused('Enter text.')
  if (value === '' || (field.required && value.trim() === '')) return left(field)
  if (!isStorable(value)) return refused(notStorable)

  const messages: string[] = []
  const length = codePointLength(value)
  if (field.minLength !== null && length < field.minLength) {
    messages.push(`Use at least ${count(field.minLength, 'character')} (now ${length}).`)
  }
  if (field.maxLength !== null && length > field.maxLength) {
    messages.push(`Use at most ${count(field.maxLength, 'character')} (now ${length}).`)
  }
  const problem = formatProblem(field.format, value) ?? patternProblem(field, value)
  if (problem) messages.push(problem)
  return verdict(value, messages)
}

function patternProblem(field: TextField, value: string): string | null {
  const pattern = patternOf(field)
  if (!pattern) return null
  if (pattern.steps(value) > patternStepsMax) {
    return 'This text is too long to be checked against the required pattern. Shorten it.'
  }
  if (pattern.test(value)) return null
  const space = /\s$/.test(value) ? ' (there is a space at the end)' : ''
  return `Does not match the required pattern ${makeVisible(field.pattern ?? '')}${space}.`
}

function checkNumber(field: NumberField, value: unknown): FieldVerdict {
  if (typeof value !== 'number' || !Number.isFinite(value)) return refused('Enter a number.')
  if (field.integer && !Number.isInteger(value)) return refused('Enter a whole number.')
  if (field.integer && !Number.isSafeInteger(value)) {
    return refused(`Enter a whole number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}.`)
  }
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = field
  const messages: string[] = []
  if (minimum !== null && value < minimum) messages.push(`Must be ${minimum} or more.`)
  if (maximum !== null && value > maximum) messages.push(`Must be ${maximum} or less.`)
  if (exclusiveMinimum != null && value <= exclusiveMinimum)
    messages.push(`Must be more than ${exclusiveMinimum}.`)
  if (exclusiveMaximum != null && value >= exclusiveMaximum)
    messages.push(`Must be less than ${exclusiveMaximum}.`)
  if (multipleOf != null && !isMultiple(value, multipleOf))
    messages.push(`Must be a multiple of ${multipleOf}.`)
  return verdict(value, messages)
}

// 0.3 is a multiple of 0.1 to everybody but a computer.
function isMultiple(value: number, step: number): boolean {
  const quotient = value / step
  return Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * Number.EPSILON
}

function checkBoolean(field: BooleanField, value: unknown): FieldVerdict {
  if (typeof value !== 'boolean') return refused('Choose Yes or No.')
  if (field.only != null && value !== field.only) return refused(`Choose ${field.only ? 'Yes' : 'No'}.`)
  return { ok: true, value }
}

function checkSelect(field: SelectField, value: unknown): FieldVerdict {
  if (field.options.length === 0)
    return refused('The server offers no option here, so nothing can be chosen.')
  if (Array.isArray(value)) return refused('Choose one option only.')
  const chosen = field.options.find((option) => option.value === value)
  return chosen ? { ok: true, value: chosen.value } : refused('Choose one of the listed options.')
}

function checkMultiSelect(field: MultiSelectField, value: unknown): FieldVerdict {
  return field.options.length > 0 ? checkChoices(field, value) : checkEntries(field, value)
}

function checkChoices(field: MultiSelectField, value: unknown): FieldVerdict {
  if (!Array.isArray(value)) return refused('Choose from the list.')
  const rank = new Map<unknown, number>(field.options.map((option, index) => [option.value, index]))
  const strangers = value.filter((entry) => !rank.has(entry))
  if (strangers.some((entry) => typeof entry !== 'string')) return refused('Choose from the list.')

  const messages = [...new Set(strangers)]
    .slice(0, 3)
    .map((entry) => `${show(entry)} is not one of the options.`)
  if (new Set(value).size < value.length) messages.push('Each option once.')
  messages.push(...countProblems(field, 'Choose', value.length))
  if (messages.length > 0) return refused(...messages)
  return { ok: true, value: value.toSorted((a, b) => rank.get(a)! - rank.get(b)!) }
}

function checkEntries(field: MultiSelectField, value: unknown): FieldVerdict {
  if (!Array.isArray(value) || value.some((entry) => typeof entry !== 'string'))
    return refused('Enter a list of texts.')
  if (!value.every(isStorable)) return refused(notStorable)
  const messages = countProblems(field, 'Enter', value.length)
  if (field.uniqueItems && new Set(value).size < value.length) messages.push('Each text once.')
  return verdict(value, messages)
}

function countProblems(field: MultiSelectField, verb: string, length: number): string[] {
  if (field.minItems !== null && length < field.minItems) return [`${verb} at least ${field.minItems}.`]
  if (field.maxItems !== null && length > field.maxItems) return [`${verb} at most ${field.maxItems}.`]
  return []
}

function checkJson(value: unknown): FieldVerdict {
  switch (jsonFault(value, jsonAnswerDepthMax)) {
    case 'not JSON':
      return refused('Enter a JSON value.')
    case 'not storable':
      return refused(notStorable)
    case 'too deep':
      return refused(`Use at most ${jsonAnswerDepthMax} levels of nesting.`)
    case null:
  }
  if (jsonBytes(value as Json) > jsonAnswerBytesMax) {
    return refused(`Use at most ${jsonAnswerBytesMax / 1024} KiB of JSON.`)
  }
  return { ok: true, value: value as Json }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
