import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dotenvBytesMax } from '../../src/base/limits.ts'
import { parseDotenv } from '../../src/gate/dotenv.ts'

function read(text: string): [string, string][] {
  return Object.entries(parseDotenv(text).variables)
}

describe('a line of a .env', () => {
  it.each([
    ['A=b=c', 'b=c'],
    ['A= b ', 'b'],
    ['A=', ''],
    ['A=""', ''],
    ["A=''", ''],
    ['A="x y"', 'x y'],
    ["A='x y'", 'x y'],
    ['A=" x "', ' x '],
    ['A="x" # c', '"x" # c'],
    ['A=x # c', 'x # c'],
    ['A=#x', '#x'],
    ['A="', '"'],
    ["A='", "'"],
    ['A="x\'', '"x\''],
    ['A=""x""', '"x"'],
    ['A="a\\nb"', 'a\\nb'],
    ['A="a\\"b"', 'a\\"b'],
    ['A=$HOME', '$HOME'],
    ['A=$' + '{HOME}', '$' + '{HOME}'],
    ['  A=b', 'b'],
    ['\t\v\f A=b\t\v\f', 'b'],
    ['A=b\r', 'b'],
    ['A=b\rc', 'b\rc'],
    ['A=b\u2028c', 'b\u2028c'],
    ['A=\u00a0b', '\u00a0b'],
    ['A=b\0', 'b'],
  ])('%j gives A the value %j', (line, value) => {
    expect(read(line)).toEqual([['A', value]])
  })

  it.each([
    '',
    '   ',
    '# A=b',
    '   # A=b',
    'export A=b',
    'A = b',
    'A =b',
    '1A=b',
    'A-B=c',
    'A.B=c',
    'A',
    '=b',
    '"A"=b',
    '\u00a0A=b',
    '\ufeffA=b',
    'Ä=b',
    'A=b\0c',
  ])('%j is skipped', (line) => {
    expect(read(line)).toEqual([])
    expect(read(`B=1\n${line}\nC=2`)).toEqual([
      ['B', '1'],
      ['C', '2'],
    ])
  })

  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString', '_', 'a1'])(
    '%s is a name like any other',
    (name) => {
      const { variables } = parseDotenv(`${name}=x`)
      expect(Object.entries(variables)).toEqual([[name, 'x']])
      expect(Object.getPrototypeOf(variables)).toBeNull()
    },
  )
})

describe('a .env', () => {
  it('may have CRLF line endings and none at its end', () => {
    expect(read('A=1\r\nB="2"\r\n\r\n# c\r\nC=3')).toEqual([
      ['A', '1'],
      ['B', '2'],
      ['C', '3'],
    ])
  })

  it('lets the last of two equal names win, a blank one too', () => {
    expect(read('A=1\nA=2')).toEqual([['A', '2']])
    expect(read('A=1\nA=')).toEqual([['A', '']])
  })

  it('is read up to 1 MiB and skipped whole, with a warning, above', () => {
    const line = 'A=1\n'
    const full = line + '#'.repeat(dotenvBytesMax - line.length)
    expect(parseDotenv(full)).toEqual({ variables: { A: '1' }, warnings: [] })
    expect(parseDotenv(`${full}#`)).toEqual({
      variables: {},
      warnings: [expect.stringMatching(/skipped.*1,048,577 bytes/)],
    })
    // Bytes, not characters.
    expect(parseDotenv(line + 'ä'.repeat(dotenvBytesMax / 2)).warnings).toHaveLength(1)
  })

  it('is read in a moment even when it is a megabyte of blanks before one letter', () => {
    const started = performance.now()
    expect(read(`A=x${' '.repeat(dotenvBytesMax - 10)}y`)).toHaveLength(1)
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  it('gives back whatever is written in double quotes on one line', () => {
    const value = fc.string({ unit: 'binary' }).filter((text) => !/[\n\0]/.test(text))
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]*$/), value), (wanted) => {
        const text = Object.entries(wanted).map(([name, one]) => `${name}="${one}"\n`)
        expect({ ...parseDotenv(text.join('')).variables }).toEqual({ ...wanted })
      }),
    )
  })
})
