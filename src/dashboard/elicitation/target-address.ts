import { decodePunycode } from './punycode.ts'

/** A web address taken apart for the eye: what to stress, and what is odd about it. */
export type TargetAddress = {
  /** As it will be opened. */
  href: string
  /** The parts of `href` around the host. */
  before: string
  host: string
  after: string
  /** The host as people read it, when it differs from the ASCII one. */
  unicodeHost: string | null
  warnings: string[]
}

/** Null for what is no http(s) address: there is nothing that may be opened then. */
export function readTargetAddress(text: string): TargetAddress | null {
  if (!URL.canParse(text)) return null
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null
  const { href, hostname, port } = url
  const start = href.indexOf('//') + 2
  const end = start + (/[/?#]/.exec(href.slice(start))?.index ?? href.length - start)
  const authority = href.slice(start, end)
  const at = authority.lastIndexOf('@') + 1
  const hostLength = authority.slice(at).length - (port ? port.length + 1 : 0)
  const hostStart = start + at
  const unicodeHost = readable(hostname)
  return {
    href,
    before: href.slice(0, hostStart),
    host: href.slice(hostStart, hostStart + hostLength),
    after: href.slice(hostStart + hostLength),
    unicodeHost: unicodeHost === hostname ? null : unicodeHost,
    warnings: warningsOf(url, unicodeHost),
  }
}

function warningsOf(url: URL, unicodeHost: string): string[] {
  const { hostname, port, protocol } = url
  const local =
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\./.test(hostname)
  const warnings: string[] = []
  if (unicodeHost !== hostname) {
    warnings.push(
      `The name has letters beyond plain ASCII (${unicodeHost}). They can look like other letters: compare it with the name that you expect.`,
    )
  }
  if (mixesScripts(unicodeHost))
    warnings.push('The name mixes letters of several scripts, as look-alike addresses do.')
  if (url.username || url.password) {
    warnings.push(`The part before the @ is not the site. This address leads to ${url.hostname}.`)
  }
  if (isAddress(hostname) && !local) warnings.push('This leads to a bare IP address, not to a named site.')
  if (port) warnings.push(`It uses the unusual port ${port}.`)
  if (protocol === 'http:' && !local)
    warnings.push('It is not encrypted (http): others on the way can read and change it.')
  return warnings
}

function isAddress(hostname: string): boolean {
  return hostname.startsWith('[') || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(hostname)
}

function readable(hostname: string): string {
  return hostname
    .split('.')
    .map((label) => (label.startsWith('xn--') ? (decodePunycode(label.slice(4)) ?? label) : label))
    .join('.')
}

const scripts = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Hebrew',
  'Arabic',
  'Thai',
  'Devanagari',
  'Hangul',
  'Han',
].map((script) => new RegExp(`\\p{Script=${script}}`, 'u'))

function mixesScripts(host: string): boolean {
  return host.split('.').some((label) => scripts.filter((script) => script.test(label)).length > 1)
}
