import { domainToUnicode } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodePunycode } from '../../src/dashboard/elicitation/punycode.ts'
import { readTargetAddress } from '../../src/dashboard/elicitation/target-address.ts'

describe('the address of a URL request', () => {
  it('is taken apart around its host', () => {
    expect(readTargetAddress('https://login.example.org/connect?a=1#b')).toEqual({
      href: 'https://login.example.org/connect?a=1#b',
      before: 'https://',
      host: 'login.example.org',
      after: '/connect?a=1#b',
      unicodeHost: null,
      warnings: [],
    })
  })

  it.each([
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['file:///etc/passwd'],
    ['/connect'],
    ['example.org'],
    [''],
  ])('cannot be opened when it is %j', (text) => {
    expect(readTargetAddress(text)).toBeNull()
  })

  it('shows where an address with a user part really leads', () => {
    const address = readTargetAddress('https://bank.example:pw@evil.example/x')!
    expect(address).toMatchObject({ before: 'https://bank.example:pw@', host: 'evil.example', after: '/x' })
    expect(address.warnings.join()).toContain('leads to evil.example')
  })

  it.each([
    ['https://203.0.113.7/', 'bare IP address'],
    ['https://[2001:db8::1]/', 'bare IP address'],
    ['https://0x7f.1.2.3.4.5/', null],
    ['https://example.org:8443/', 'port 8443'],
    ['http://example.org/', 'not encrypted'],
    ['https://xn--mnchen-3ya.de/', 'beyond plain ASCII (münchen.de)'],
    ['https://münchen.de/', 'beyond plain ASCII (münchen.de)'],
    ['https://xn--pple-43d.com/', 'mixes letters of several scripts'],
  ])('warns about %s', (text, warning) => {
    const address = readTargetAddress(text)
    if (warning === null) expect(address).toBeNull()
    else expect(address!.warnings.join('\n')).toContain(warning)
  })

  it.each([['http://localhost/'], ['http://127.0.0.1/x'], ['http://[::1]/']])(
    'says nothing about %s, which stays on this machine',
    (text) => {
      expect(readTargetAddress(text)!.warnings).toEqual([])
    },
  )

  it('never loses a character of what will be opened', () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (text) => {
        const { href, before, host, after } = readTargetAddress(text)!
        expect(before + host + after).toBe(href)
        expect(new URL(href).hostname).toBe(host)
      }),
    )
  })
})

describe('punycode', () => {
  it.each([
    ['mnchen-3ya', 'münchen'],
    ['80ak6aa92e', 'аррӏе'],
    ['fiqs8s', '中国'],
    ['egbpdaj6bu4bxfgehfvwxn', 'ليهمابتكلموشعربي؟'],
  ])('reads %s', (text, unicode) => {
    expect(decodePunycode(text)).toBe(unicode)
  })

  it.each([['!'], ['a-!'], ['99999999999']])('gives up on %s', (text) => {
    expect(decodePunycode(text)).toBeNull()
  })

  it('reads labels as the platform does', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...'aäßжא中é-x'), { minLength: 1, maxLength: 12 }), (letters) => {
        const url = `https://${letters.join('')}.example/`
        if (!URL.canParse(url)) return
        const host = new URL(url).hostname
        const label = host.split('.')[0]!
        if (label.startsWith('xn--'))
          expect(decodePunycode(label.slice(4))).toBe(domainToUnicode(host).split('.')[0])
      }),
    )
  })
})
