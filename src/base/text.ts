import { isRecord } from './json.ts'
import { schemaDepthMax, summaryCharactersMax } from './limits.ts'

// Characters that show as nothing, or that change how their neighbours show: controls other than line feed and
// tab, format characters (bidirectional, zero-width, tags, soft hyphen), lone surrogates, line and paragraph
// separators, whatever Unicode lets a font ignore (fillers, variation selectors), noncharacters, the blank Braille cell.
const invisible = /[[\p{Cc}--[\n\t]]\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\p{Noncharacter_Code_Point}\u2800]/v

// Emoji are the one place where such characters belong. The set of recommended sequences names each of them, so
// a joiner, a selector or a tag hides nothing there.
const emojiOrInvisible = new RegExp(`(\\p{RGI_Emoji})|${invisible.source}`, 'gv')

// Looking for sequences is slow at every character that is not ASCII: it is done only where one could be.
const emojiOrInvisibleRun = new RegExp(`[\\p{Emoji}\\u20e3${invisible.source}]+`, 'gv')

/**
 * Replaces what cannot be seen by its code, such as ⟨U+202E⟩, so that no surface can be spoofed by a stranger's text
 * and every surface can store it. Line feeds, tabs and emoji stay; CRLF becomes a line feed. Idempotent.
 */
export function makeVisible(text: string): string {
  if (!invisible.test(text)) return text
  return text
    .replaceAll('\r\n', '\n')
    .replace(emojiOrInvisibleRun, (run) =>
      run.replace(emojiOrInvisible, (character, emoji?: string) => emoji ?? escapeCode(character)),
    )
}

function escapeCode(character: string): string {
  return `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`
}

/**
 * A copy of a JSON Schema whose human texts (`title`, `description`, `enumNames`) are visible, at every level that a
 * form reads. Names, `enum`, `const`, `default` and `pattern` are values and stay exact. Below `schemaDepthMax`,
 * where no form looks, the schema is left as it is.
 */
export function makeSchemaVisible<Schema>(schema: Schema): Schema
export function makeSchemaVisible(schema: unknown): unknown {
  return visibleSchema(schema, schemaDepthMax)
}

function visibleSchema(schema: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth === 0) return schema
  const each = (inner: unknown) => visibleSchema(inner, depth - 1)
  return mapEntries(schema, (keyword, value) => {
    switch (keyword) {
      case 'title':
      case 'description':
        return typeof value === 'string' ? makeVisible(value) : value
      case 'enumNames':
        return Array.isArray(value)
          ? value.map((name) => (typeof name === 'string' ? makeVisible(name) : name))
          : value
      case 'oneOf':
      case 'anyOf':
      case 'allOf':
        return Array.isArray(value) ? value.map(each) : value
      case 'items':
        return Array.isArray(value) ? value.map(each) : each(value)
      case 'properties':
      case '$defs':
      case 'definitions':
        return isRecord(value) ? mapEntries(value, (_name, inner) => each(inner)) : value
      default:
        return value
    }
  })
}

// Object.fromEntries defines each property, so that a property named `__proto__` survives.
function mapEntries(record: Record<string, unknown>, change: (name: string, value: unknown) => unknown) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(name, value)]))
}

/** "tool: message", or the message alone, of at most 300 code points with an ellipsis among them when it is cut. */
export function summarise(toolName: string | null, message: string): string {
  const tool = toolName?.trim()
  return truncate(tool ? `${tool}: ${message}` : message, summaryCharactersMax)
}

/** At most `lengthMax` code points, the last an ellipsis when the text is cut. */
export function truncate(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  let length = 0
  let keep = 0
  for (const character of text) {
    length += 1
    if (length < lengthMax) keep += character.length
    // What a cut emoji leaves behind (a joiner, a selector) would be an invisible character again.
    if (length > lengthMax) return `${text.slice(0, keep).replace(/\p{DI}+$/u, '')}…`
  }
  return text
}

/** As much of the start of a text as fits into so many bytes of UTF-8. */
export function startWithin(text: string, bytesMax: number): string {
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytesMax)).read)
}

/** Length as people and JSON Schema count it: an emoji outside the basic plane is one. */
export function codePointLength(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}
