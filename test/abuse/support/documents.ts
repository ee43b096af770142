import type { Random } from './random.ts'

/** Text that goes into a document as it is: what no value of JavaScript prints to. */
export class Raw {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A document as a list of entries, so that it may name a key twice, or one that no object should have. */
export class Entries {
  readonly entries: [string, unknown][]
  constructor(entries: [string, unknown][]) {
    this.entries = entries
  }
}

export const oddNames = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  '',
  '\0',
]

/** Patterns that take a backtracking engine longer than anybody waits, and ones that are none. */
export const bombs = [
  '(a+)+$',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(a|a?)+$',
  '(?=(a+))\\1b',
  '(',
  '[',
  '\\',
  'a{1,99999}',
  '(?<n>a)\\k<n>',
]

const texts = [
  '',
  ' ',
  'a'.repeat(40),
  `${'a'.repeat(60)}!`,
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '\u202egpj.exe',
  '\u200b\u200d\ufeff',
  '🧨'.repeat(30),
  'é'.normalize('NFD').repeat(100),
  '<script>alert(1)</script>',
  "'; drop table session; --",
  `{{7*7}}$${7 * 7}`,
  '%00%0a%0d',
  '../../../../etc/passwd',
  'http://user:password@[::1]:99999/',
  'javascript:alert(1)',
  'data:text/html,x',
  'accept',
  'null',
  '2026-13-45T99:99:99Z',
  '9999999999-01-01T00:00:00Z',
  '-271821-04-20T00:00:00Z',
  '0',
  ...oddNames,
  ...bombs,
]

const raws = [
  '1e999',
  '-1e999',
  '1e-999',
  '-0',
  '9007199254740993',
  `1${'0'.repeat(400)}`,
  'NaN',
  'Infinity',
  'undefined',
  '"\\ud800"',
  '"\\u0000"',
  '"\\x41"',
  '"unended',
  '{"a":1,}',
  '[1,,2]',
  '{a:1}',
  '\u2028',
  '// a comment',
  '{"__proto__":{"isAdmin":true}}',
  '{"constructor":{"prototype":{"isAdmin":true}}}',
]

function nested(depth: number, kind: '[]' | '{}'): Raw {
  const [open, close] = kind === '[]' ? ['[', ']'] : ['{"a":', '}']
  return new Raw(`${open.repeat(depth)}0${close.repeat(depth)}`)
}

/** A value that nobody expects where it is put. */
export function oddValue(random: Random): unknown {
  switch (random.int(9)) {
    case 0:
    case 1:
    case 2:
      return random.pick(texts)
    case 3:
      return new Raw(random.pick(raws))
    case 4:
      return random.pick([null, true, false, 0, -1, 0.1, 2 ** 53, -(2 ** 31) - 1, 1e308])
    case 5:
      return random.pick([[], {}, [[]], [null], [{}], { '': '' }, { __proto__: null, a: 1 }])
    case 6:
      return new Entries(
        Array.from({ length: 1 + random.int(4) }, () => [random.pick(oddNames), random.pick(texts)]),
      )
    case 7:
      return random.chance(0.1)
        ? nested(random.pick([100, 5_000, 40_000]), random.chance(0.5) ? '[]' : '{}')
        : nested(1 + random.int(80), '[]')
    default:
      return random.chance(0.05)
        ? random.pick([
            'x'.repeat(random.pick([17_000, 70_000, 300_000])),
            Array.from({ length: 20_000 }, () => 0),
            Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`p${i}`, { type: 'string' }])),
          ])
        : random.bytes(random.int(40)).toString('latin1')
  }
}

/** A copy of a document with something changed somewhere in it: a value, a name, a key more or less. */
export function mutated(document: unknown, random: Random): unknown {
  if (random.chance(0.15) || typeof document !== 'object' || document === null) return oddValue(random)
  if (Array.isArray(document)) {
    const copy: unknown[] = [...document]
    const at = random.int(copy.length + 1)
    if (random.chance(0.2)) copy.splice(at, random.int(2), oddValue(random))
    else if (at < copy.length) copy[at] = mutated(copy[at], random)
    return copy
  }
  const entries = Object.entries(document) as [string, unknown][]
  const at = random.int(entries.length + 1)
  const action = random.int(10)
  if (action === 0 || at === entries.length) entries.push([random.pick(oddNames), oddValue(random)])
  else if (action === 1) entries.splice(at, 1)
  else if (action === 2) entries.push([entries[at]![0], oddValue(random)])
  else if (action === 3) entries[at] = [String(random.pick(texts)), entries[at]![1]]
  else entries[at] = [entries[at]![0], mutated(entries[at]![1], random)]
  return new Entries(entries)
}

export function print(value: unknown): string {
  if (value instanceof Raw) return value.text
  if (value instanceof Entries)
    return `{${value.entries.map(([name, each]) => `${JSON.stringify(name)}:${print(each)}`).join(',')}}`
  if (Array.isArray(value)) return `[${value.map(print).join(',')}]`
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([name, each]) => `${JSON.stringify(name)}:${print(each)}`)
      .join(',')}}`
  return JSON.stringify(value) ?? 'undefined'
}

/** Damages text as a bad line would: bytes are lost, doubled, changed, or put elsewhere. */
export function damaged(text: Buffer, random: Random): Buffer {
  if (text.length === 0) return random.bytes(4)
  const from = random.int(text.length)
  const to = Math.min(text.length, from + 1 + random.int(8))
  const [before, piece, after] = [text.subarray(0, from), text.subarray(from, to), text.subarray(to)]
  switch (random.int(5)) {
    case 0:
      return before
    case 1:
      return Buffer.concat([before, after])
    case 2:
      return Buffer.concat([before, piece, piece, after])
    case 3:
      return Buffer.concat([before, random.bytes(piece.length), after])
    default:
      return Buffer.concat([
        before,
        Buffer.from(random.pick(['\xff\xfe', '\xc0\xaf', '\xed\xa0\x80', '\xf8\x88']), 'latin1'),
        after,
      ])
  }
}

const encodings: ((text: string) => Buffer)[] = [
  (text) => Buffer.from(text, 'utf16le'),
  (text) => Buffer.from(`\ufeff${text}`),
  (text) => Buffer.from(text, 'latin1'),
  (text) =>
    Buffer.from(
      text.replace(/[aeiou]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`),
    ),
  (text) => Buffer.from(encodeURIComponent(text.slice(0, 20_000).toWellFormed())),
  (text) => Buffer.from(Buffer.from(text).toString('base64')),
]

/** The bytes of a document: most of the time its text, else the text in another writing, or damaged. */
export function bytesOf(text: string, random: Random): Buffer {
  const kind = random.int(20)
  if (kind === 0) return random.pick(encodings)(text)
  if (kind <= 2) return damaged(Buffer.from(text), random)
  return Buffer.from(text)
}
