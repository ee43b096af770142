import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TextFormat } from '../../../src/elicitation/form/field.ts'
import { formatProblem } from '../../../src/elicitation/form/formats.ts'

const accepted: [TextFormat, string[]][] = [
  ['TEXT', ['', 'anything\nat all']],
  ['EMAIL', ['ada@example.org', "o'hara+tag@mail.example.co.uk", 'a@b.c', 'A.B@EXAMPLE.ORG']],
  [
    'URI',
    [
      'https://example.org/r',
      'https://user:pw@example.org:8080/a/b;c?d=e&f#g',
      'urn:isbn:1',
      'mailto:ada@example.org',
      'file:///etc/hosts',
      'http://[::1]:80/',
      'javascript:alert(1)',
      'https://xn--mnchen-3ya.de/',
      'https://example.org/%C3%A4',
    ],
  ],
  ['DATE', ['2026-02-28', '2024-02-29', '2000-02-29', '2026-12-31']],
  [
    'DATE_TIME',
    [
      '2026-02-28T10:00:00Z',
      '2026-02-28t10:00:00z',
      '2026-02-28T23:59:59.123456+02:00',
      '2026-02-28T00:00:00-11:30',
    ],
  ],
]

const refused: [TextFormat, string, string][] = [
  ['EMAIL', 'ada@localhost', 'Enter an email address such as name@example.org.'],
  ['EMAIL', 'ada..b@example.org', 'Enter an email address such as name@example.org.'],
  ['EMAIL', '@example.org', 'Enter an email address such as name@example.org.'],
  ['EMAIL', 'a@-example.org', 'Enter an email address such as name@example.org.'],
  ['EMAIL', `${'a'.repeat(65)}@example.org`, 'Enter an email address such as name@example.org.'],
  ['EMAIL', ' ada@example.org', 'Remove the space at the start.'],
  ['EMAIL', ' ada@example.org\n', 'Remove the spaces at the start and the end.'],
  ['URI', 'https://example.org ', 'Remove the space at the start or the end.'],
  ['URI', 'https://exa mple.org', 'An address has no spaces.'],
  ['URI', 'https:', 'Enter a full address such as https://example.org/run.'],
  ['URI', 'https://example.org/%zz', 'Enter a full address such as https://example.org/run.'],
  ['URI', 'http://[::g]/', 'Enter a full address such as https://example.org/run.'],
  [
    'URI',
    'https://münchen.de',
    'An address has only plain letters, digits and signs. Write it as https://xn--mnchen-3ya.de/',
  ],
  ['DATE', '2026-13-01', 'Month 13 does not exist.'],
  ['DATE', '2026-00-01', 'Month 0 does not exist.'],
  ['DATE', '2026-04-31', '31 April does not exist.'],
  ['DATE', '2026-01-00', '0 January does not exist.'],
  ['DATE', '2026-02-29', '29 February does not exist in 2026.'],
  ['DATE', '1900-02-29', '29 February does not exist in 1900.'],
  ['DATE', '2026-02-28 10:00', 'Enter a date without a time.'],
  ['DATE', '2026-2-8', 'Use year-month-day, such as 2026-02-28.'],
  ['DATE', '2026-02-28\n', 'Use year-month-day, such as 2026-02-28.'],
  ['DATE_TIME', '2026-02-30', '30 February does not exist.'],
  ['DATE_TIME', '2026-02-30T10:00:00Z', '30 February does not exist.'],
  ['DATE_TIME', '2026-02-28T10:00:00', 'Add a time zone, such as 2026-02-28T10:00:00Z.'],
  ['DATE_TIME', '2026-02-28T24:00:00Z', 'Hours go from 00 to 23.'],
  ['DATE_TIME', '2026-02-28T10:60:00Z', 'Minutes go from 00 to 59.'],
  ['DATE_TIME', '2026-02-28T10:00:60Z', 'Seconds go from 00 to 59.'],
  ['DATE_TIME', '2026-02-28T10:00:00+24:00', 'A time zone goes from -23:59 to +23:59.'],
  ['DATE_TIME', 'tomorrow', 'Use a date, a time and a time zone, such as 2026-02-28T10:00:00Z.'],
]

it.each(accepted.flatMap(([format, texts]) => texts.map((text) => [format, text] as const)))(
  'takes as %s: %s',
  (format, text) => {
    expect(formatProblem(format, text)).toBeNull()
  },
)

it.each(refused)('refuses as %s: %j, saying: %s', (format, text, message) => {
  expect(formatProblem(format, text)).toBe(message)
})

describe('what a format takes, the SDK takes too', () => {
  const validator = new AjvJsonSchemaValidator()
  const near = (characters: string) => fc.string({ unit: fc.constantFrom(...characters), maxLength: 24 })
  const digits = (length: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length })
  const date = fc.tuple(digits(4), digits(2), digits(2)).map((parts) => parts.join('-'))
  const arbitraries: [TextFormat, string, fc.Arbitrary<string>][] = [
    ['EMAIL', 'email', fc.oneof(fc.emailAddress(), near('ab.-@_ é'))],
    [
      'URI',
      'uri',
      fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), near('ab:/?#[]@%41. é')),
    ],
    ['DATE', 'date', date],
    [
      'DATE_TIME',
      'date-time',
      fc
        .tuple(
          date,
          fc.constantFrom('T', 't', ' '),
          digits(2),
          digits(2),
          digits(2),
          near('.Zz+-:0123').filter(Boolean),
        )
        .map(
          ([day, separator, hour, minute, second, rest]) =>
            `${day}${separator}${hour}:${minute}:${second}${rest}`,
        ),
    ],
  ]

  it.each(arbitraries)('%s', (format, name, texts) => {
    const validate = validator.getValidator({ type: 'string', format: name } as never)
    fc.assert(
      fc.property(texts, (text) => formatProblem(format, text) !== null || validate(text).valid),
      { numRuns: 2_000 },
    )
  })
})
