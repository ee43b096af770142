import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/**
 * Everything that is not a host on the public internet (IANA's special-purpose registries). A list for each family: in one,
 * an IPv4 address would also be looked for as the IPv6 address that it maps to.
 */
const special4 = new BlockList()
const special6 = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  special4.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of [
  // Of IPv6 only 2000::/3 is given out; in it, what tunnels to an IPv4 address (Teredo, 6to4) and what documents use.
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  special6.addSubnet(network, prefix, 'ipv6')

/** Whether an IP address is one of the public internet: not loopback, private, link-local or otherwise special. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special4.check(address, 'ipv4')
    case 6:
      // A zone only goes with addresses of the local link.
      return !address.includes('%') && !special6.check(address, 'ipv6')
    default:
      return false
  }
}

/**
 * Resolves a name at the moment of connecting, and refuses it when any of its addresses is not public: a check made
 * earlier says nothing about what the name resolves to now.
 */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '')
    if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address)))
      return callback(new Error(`${hostname} is not an address of the public internet`), '')
    if (options.all) return callback(null, addresses)
    callback(null, addresses[0]!.address, addresses[0]!.family)
  })
}

/** The host of an address, when it is written as a number: then nothing is looked up. */
export function literalAddress(url: URL): string | null {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? null : host
}

/** Whether everything that a host stands for is public, now. A name that does not resolve is not. */
export function isPublicHost(url: URL): Promise<boolean> {
  const literal = literalAddress(url)
  if (literal !== null) return Promise.resolve(isPublicAddress(literal))
  return new Promise((resolve) =>
    lookupPublic(url.hostname, { all: true }, (error) => resolve(error === null)),
  )
}
