import { redactedDepthMax, redactedPartsMax, redactedTextLengthMax } from './limits.ts'

/** What a secret is replaced by. */
const redacted = '[redacted]'

/** A secret may sit across the cut; the word that the cut goes through is left out with it. */
const cutWordMax = 1_024

/** Names whose value is a secret, whatever it looks like. `max_tokens` and a tokenizer are none. */
const secretName =
  'passwords?|passwd|passphrase|passcode|pwd|secrets?|token(?!s|i[sz])|api[_-]?keys?|access[_-]?keys?|private[_-]?keys?|credentials?'
const secretKey = new RegExp(`${secretName}|authorization|cookie|^holdpoint-withdraw$`, 'i')

/** One value behind a name: in quotes, in the escaped quotes of JSON within JSON, or bare. */
const valuePattern = String.raw`"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|\\"[^"\\]*|[^\s"'\\,;&(){}<>[\]]+`

/**
 * Every pattern takes time linear in the text: repetitions that may fail are bounded or begin where no other match of
 * the same pattern can begin, and what is found is consumed.
 */
const patterns: [RegExp, string | ((...groups: string[]) => string)][] = [
  // Private keys in PEM, up to their end or whatever cannot be part of one.
  [
    /-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----(?:[\w+/=\s\\:,.()]|-(?!----))*(?:-----END[A-Z0-9 ]{0,60}-----)?/g,
    redacted,
  ],
  // Credentials in an address: up to the last @ before the path.
  [/:\/\/[^\s/?#"'<>\\]{1,500}@/g, `://${redacted}@`],
  // Our own: keys (their first eleven characters are public), capability addresses, sign-in links.
  [/(?<![A-Za-z0-9])hp_[\w-]{12,}/g, `hp_${redacted}`],
  [/\/gate\/[\w-]{16,}/g, `/gate/${redacted}`],
  [/\/sign-in#[\w-]{8,}/g, `/sign-in#${redacted}`],
  // Tokens that say what they are.
  [/(?<![\w-])eyJ[\w-]{5,}(?:\.[\w-]*){1,4}/g, redacted],
  [/(?<![A-Za-z0-9])(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g, redacted],
  [
    /(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|glpat-|npm_|hf_|pypi-|dop_v1_|shpat_|whsec_)[\w+/=-]{16,}/g,
    redacted,
  ],
  [/(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[\w-]{8,}/g, redacted],
  [/hooks\.slack\.com\/(?:services|workflows|triggers)\/[\w/-]+/g, `hooks.slack.com/${redacted}`],
  [/(?<![A-Za-z0-9])(?:sk|pk|rk)(?:-|_live_|_test_)[\w-]{16,}/g, redacted],
  [/(?<![A-Za-z0-9])AIza[\w-]{30,}/g, redacted],
  [/(?<![A-Za-z0-9])SG\.[\w-]{16,64}\.[\w-]{16,}/g, redacted],
  // Headers. A cookie goes to the end of its line.
  [
    /(authorization["'\\]{0,3}[ \t]{0,5}[:=][ \t]{0,5}["'\\]{0,3})(?:[A-Za-z][\w-]{0,20}[ \t]{1,5})?[^\s"',;\\]+/gi,
    `$1${redacted}`,
  ],
  [
    /(?<![A-Za-z0-9])((?:Bearer|Basic)[ \t]{1,8})(?=[\w.~+/-]*\d|[\w.~+/-]{20})[\w.~+/-]+=*/gi,
    `$1${redacted}`,
  ],
  [/(cookie["'\\]{0,3}[ \t]{0,5}:[ \t]{0,5}["'\\]{0,3})[^\n"'\\]+/gi, `$1${redacted}`],
  // password=…, "apiKey": "…", --token …
  [
    new RegExp(
      String.raw`((?:${secretName})[\w.-]{0,32}["'\\]{0,3}[ \t]{0,5}[:=][ \t]{0,5})(?!\[redacted\])(${valuePattern})`,
      'gi',
    ),
    (_match, name, value) => `${name}${inPlaceOf(value!, /"[ \t]{0,5}[:=][ \t]{0,5}$/.test(name!))}`,
  ],
  [
    new RegExp(
      String.raw`((?<![\w-])--?[\w-]{0,32}?(?:${secretName})[\w-]{0,16}[ \t]{1,5})(?![-=:]|\[redacted\])(${valuePattern})`,
      'gi',
    ),
    (_match, name, value) => `${name}${inPlaceOf(value!, false)}`,
  ],
]

/** Keeps the quotes, so that what was JSON still is; a bare value behind a quoted name gets some. */
function inPlaceOf(value: string, isJson: boolean): string {
  if (value.startsWith('\\"')) return `\\"${redacted}`
  const quote = value[0] === '"' || value[0] === "'" ? value[0] : isJson ? '"' : ''
  return `${quote}${redacted}${quote}`
}

/**
 * The one way in which texts and values leave the page: a copy in which secrets are `[redacted]`, in texts by their
 * shape, in objects also by the name that they stand under. Linear in time, bounded in size and depth, idempotent.
 */
export function redact<Value>(value: Value): Value
export function redact(value: unknown): unknown {
  const budget = { parts: redactedPartsMax }
  return redactValue(value, redactedDepthMax, budget)
}

function redactValue(value: unknown, depth: number, budget: { parts: number }): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (depth === 0 || budget.parts <= 0) return '[cut]'
  if (Array.isArray(value)) {
    return cutToBudget(value, budget).map((item) => redactValue(item, depth - 1, budget))
  }
  const record: Record<string, unknown> =
    value instanceof Error
      ? { ...value, type: value.name, message: value.message, stack: value.stack }
      : { ...value }
  // Defines each property, so that one named `__proto__` is data.
  return Object.fromEntries(
    cutToBudget(Object.entries(record), budget).map(([name, inner]) => [
      redactText(name),
      secretKey.test(name) && isTelling(inner) ? redacted : redactValue(inner, depth - 1, budget),
    ]),
  )
}

/** A flag or a null says whether there is a secret, and not which. */
function isTelling(value: unknown): boolean {
  return value !== null && value !== undefined && typeof value !== 'boolean'
}

function cutToBudget<Item>(items: Item[], budget: { parts: number }): Item[] {
  const kept = items.slice(0, budget.parts)
  budget.parts -= items.length
  return kept
}

function redactText(text: string): string {
  const isCut = text.length > redactedTextLengthMax
  let result = isCut ? cut(text) : text
  for (const [pattern, replacement] of patterns) result = result.replace(pattern, replacement as string)
  return isCut ? `${result}… [cut]` : result
}

function cut(text: string): string {
  const end = text.slice(redactedTextLengthMax - cutWordMax, redactedTextLengthMax)
  const lastSpace = Math.max(end.lastIndexOf(' '), end.lastIndexOf('\n'))
  return text.slice(
    0,
    lastSpace === -1 ? redactedTextLengthMax - cutWordMax : redactedTextLengthMax - cutWordMax + lastSpace,
  )
}
