type Tree = Record<string, unknown>

/**
 * The newer of two snapshots, with every part that has not changed taken from the older one: what is drawn from such a part
 * need not be drawn again. Members of a list are known by their ids, wherever they stand now.
 */
export function shared<Data>(older: unknown, newer: Data): Data {
  if (older === newer || !isTree(older) || !isTree(newer)) return newer
  if (Array.isArray(older) !== Array.isArray(newer)) return newer
  const result: Tree = Array.isArray(newer) ? ([] as never) : {}
  const earlier = Array.isArray(older) ? byIdentity(older) : null
  const keys = Object.keys(newer)
  let changed = keys.length !== Object.keys(older).length
  for (const key of keys) {
    const value = newer[key]
    const before = Object.hasOwn(older, key) ? older[key] : undefined
    const kept = shared(earlier?.get(identityOf(value)) ?? before, value)
    // Names in JSON come from strangers: defined, one that is called __proto__ is a name like any other.
    Object.defineProperty(result, key, { value: kept, writable: true, enumerable: true, configurable: true })
    changed ||= kept !== before || !Object.hasOwn(older, key)
  }
  return changed ? (result as Data) : (older as Data)
}

function byIdentity(list: unknown[]): Map<unknown, unknown> {
  const known = new Map(list.map((member) => [identityOf(member), member]))
  known.delete(undefined)
  return known
}

/** Of a thing with an id, or of an edge to one. */
function identityOf(member: unknown): unknown {
  if (!isTree(member)) return undefined
  return isTree(member.node) ? member.node.id : member.id
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null
}
