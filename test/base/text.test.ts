import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  codePointLength,
  makeSchemaVisible,
  makeVisible,
  startWithin,
  summarise,
  truncate,
} from '../../src/base/text.ts'

describe('text made visible', () => {
  it.each([
    ['an override of direction', 'user\u202egpj.exe', 'user⟨U+202E⟩gpj.exe'],
    ['isolates', '\u2066a\u2069', '⟨U+2066⟩a⟨U+2069⟩'],
    ['a mark of direction', 'a\u200f', 'a⟨U+200F⟩'],
    ['zero width', 'a\u200bb\u200cc\u200dd\ufeff', 'a⟨U+200B⟩b⟨U+200C⟩c⟨U+200D⟩d⟨U+FEFF⟩'],
    ['a soft hyphen', 'pass\u00adword', 'pass⟨U+00AD⟩word'],
    ['controls', '\u0000\u0007\u001b[2J\u007f\u0085', '⟨U+0000⟩⟨U+0007⟩⟨U+001B⟩[2J⟨U+007F⟩⟨U+0085⟩'],
    ['tags', 'x\u{e0041}', 'x⟨U+E0041⟩'],
    ['variation selectors of letters', 'a\ufe0f\u{e0100}', 'a⟨U+FE0F⟩⟨U+E0100⟩'],
    ['fillers', '\u3164\u115f\u2800', '⟨U+3164⟩⟨U+115F⟩⟨U+2800⟩'],
    ['separators of lines', 'a\u2028b\u2029', 'a⟨U+2028⟩b⟨U+2029⟩'],
    ['a joiner that joins no emoji', '👩\u200dx', '👩⟨U+200D⟩x'],
    ['half of a pair', 'a\ud83d b\ude00', 'a⟨U+D83D⟩ b⟨U+DE00⟩'],
    ['a lone carriage return', 'safe\rrm -rf', 'safe⟨U+000D⟩rm -rf'],
  ])('shows %s', (_name, text, visible) => {
    expect(makeVisible(text)).toBe(visible)
  })

  it.each([
    ['line feeds and tabs', 'a\n\tb\n'],
    ['other scripts', 'Grüße, Привет, 漢字, مرحبا, नमस्ते'],
    ['combining marks', 'e\u0301'],
    ['emoji', '🙂 ❤️ 👍🏽 🇩🇪 1️⃣'],
    ['joined emoji', '👩‍💻 👨‍👩‍👧 🏳️‍🌈'],
    ['flags made of tags', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
    ['text that looks like a code', '⟨U+202E⟩'],
  ])('leaves %s alone', (_name, text) => {
    expect(makeVisible(text)).toBe(text)
  })

  it('ends lines with a line feed', () => {
    expect(makeVisible('a\r\nb\r\n')).toBe('a\nb\n')
    expect(makeVisible('a\r\r\nb')).toBe('a⟨U+000D⟩\nb')
  })

  const pieces = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '\r',
      '\n',
      '\r\n',
      '\u200d',
      '\ufe0f',
      '\u20e3',
      '1',
      '#',
      '👩',
      '💻',
      '❤',
      '\u{e0067}',
      '\ud83d',
      '🏴',
      '🇩',
    ),
  )
  const texts = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''))

  it('is the same when made visible again, and holds nothing invisible outside of emoji', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const visible = makeVisible(text)
        expect(makeVisible(visible)).toBe(visible)
        expect(visible.isWellFormed()).toBe(true)
        const withoutEmoji = visible.replace(/\p{RGI_Emoji}/gv, '')
        expect(withoutEmoji).not.toMatch(/[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]|(?![\n\t])\p{Cc}/u)
      }),
      { numRuns: 3_000 },
    )
  })

  it('loses nothing but carriage returns: codes turned back give the text', () => {
    fc.assert(
      fc.property(
        texts.filter((text) => !text.includes('\r') && !text.includes('⟨')),
        (text) => {
          const back = makeVisible(text).replace(/⟨U\+([0-9A-F]+)⟩/g, (_code, hex) =>
            String.fromCodePoint(Number.parseInt(hex, 16)),
          )
          expect(back).toBe(text)
        },
      ),
    )
  })
})

describe('a schema made visible', () => {
  it('shows its human texts and keeps its values exact', () => {
    const hidden = 'a\u202eb'
    const shown = 'a⟨U+202E⟩b'
    const schema = {
      title: hidden,
      properties: {
        [hidden]: {
          type: 'string',
          title: hidden,
          description: hidden,
          enum: [hidden],
          enumNames: [hidden, 5],
          default: hidden,
          pattern: hidden,
        },
        choice: {
          oneOf: [{ const: hidden, title: hidden }],
          anyOf: [{ const: hidden, title: hidden }, hidden],
        },
        list: { type: 'array', items: { anyOf: [{ const: hidden, title: hidden }], enum: [hidden] } },
        title: { const: hidden, description: hidden },
      },
      required: [hidden],
    }
    expect(makeSchemaVisible(schema)).toEqual({
      title: shown,
      properties: {
        [hidden]: {
          type: 'string',
          title: shown,
          description: shown,
          enum: [hidden],
          enumNames: [shown, 5],
          default: hidden,
          pattern: hidden,
        },
        choice: {
          oneOf: [{ const: hidden, title: shown }],
          anyOf: [{ const: hidden, title: shown }, hidden],
        },
        list: { type: 'array', items: { anyOf: [{ const: hidden, title: shown }], enum: [hidden] } },
        title: { const: hidden, description: shown },
      },
      required: [hidden],
    })
    expect(schema.title).toBe(hidden)
  })

  it('keeps properties named __proto__, in order', () => {
    const text = '{"properties":{"z":{"title":"Z"},"__proto__":{"title":"P"},"constructor":{"title":"C"}}}'
    expect(JSON.stringify(makeSchemaVisible(JSON.parse(text)))).toBe(text)
  })

  it('never throws, and copies every schema without hidden characters as it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        if (!/[^\x20-\x7e]/.test(JSON.stringify(value))) expect(makeSchemaVisible(value)).toEqual(value)
        else expect(() => makeSchemaVisible(value)).not.toThrow()
      }),
    )
    let deep: unknown = 'x'
    for (let level = 0; level < 100_000; level += 1) deep = { items: deep }
    expect(() => makeSchemaVisible(deep)).not.toThrow()
  })
})

describe('a summary', () => {
  it('is the tool and its message, or the message alone', () => {
    expect(summarise('deploy', 'Go?')).toBe('deploy: Go?')
    expect(summarise(null, 'Go?')).toBe('Go?')
    expect(summarise('  ', 'Go?')).toBe('Go?')
  })

  it('has at most 300 characters, the ellipsis among them, and cuts none in half', () => {
    const cases = ['x', '🙂'].map(
      (character) => [character, character.repeat(300), character.repeat(301)] as const,
    )
    for (const [character, whole, long] of cases) {
      expect(summarise(null, whole)).toBe(whole)
      expect(summarise(null, long)).toBe(`${character.repeat(299)}…`)
      expect(summarise('t', whole)).toBe(`t: ${character.repeat(296)}…`)
    }
  })

  it('leaves no half of an emoji behind that cannot be seen', () => {
    expect(truncate('ab👩‍💻c', 5)).toBe('ab👩…')
    expect(makeVisible(truncate('ab👩‍💻c', 5))).toBe('ab👩…')
  })

  it('is never longer than asked, and a beginning of the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 20 }), (text, lengthMax) => {
        const cut = truncate(text, lengthMax)
        expect(codePointLength(cut)).toBeLessThanOrEqual(lengthMax)
        if (cut !== text) {
          expect(cut.endsWith('…')).toBe(true)
          expect(text.startsWith(cut.slice(0, -1))).toBe(true)
          expect(codePointLength(text)).toBeGreaterThan(lengthMax)
        }
      }),
    )
  })
})

it('the start of a text within so many bytes is as much as fits, and no character in halves', () => {
  expect(startWithin('ab👩c', 6)).toBe('ab👩')
  expect(startWithin('ab👩c', 5)).toBe('ab')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 30 }), (text, bytesMax) => {
      const start = startWithin(text, bytesMax)
      expect(text.startsWith(start)).toBe(true)
      expect(Buffer.byteLength(start)).toBeLessThanOrEqual(bytesMax)
      const [next] = text.slice(start.length)
      if (next !== undefined) expect(Buffer.byteLength(start + next)).toBeGreaterThan(bytesMax)
    }),
  )
})
