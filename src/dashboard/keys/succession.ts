import { isRecord, type Json, own } from '../../base/json.ts'

export interface Succession {
  /** By the id of an old key, the id of the one that took its place. */
  replacedBy: ReadonlyMap<string, string>
  /** By the id of a key, those whose place it took. */
  replaces: ReadonlyMap<string, readonly string[]>
}

/** Which key follows which, out of the `key.rotated` events of the audit log. */
export function successionOf(rotations: readonly { node: { data: Json } }[]): Succession {
  const replacedBy = new Map<string, string>()
  const replaces = new Map<string, string[]>()
  for (const { node } of rotations) {
    if (!isRecord(node.data)) continue
    const [id, successorId] = [own(node.data, 'keyId'), own(node.data, 'successorKeyId')]
    if (typeof id !== 'string' || typeof successorId !== 'string') continue
    replacedBy.set(id, successorId)
    replaces.set(successorId, [...(replaces.get(successorId) ?? []), id])
  }
  return { replacedBy, replaces }
}
