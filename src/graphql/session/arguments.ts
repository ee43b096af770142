import { type Identity, sees } from '../../auth/identity.ts'
import { isUuid } from '../../base/ids.ts'
import { unknownSession } from '../../base/refusal.ts'

/** The id of a session as a domain command takes it: anything that is no id, or that the key may not see, is not found. */
export function sessionIdOf(id: string, identity: Identity): string {
  const known = id.toLowerCase()
  if (!isUuid(known) || !sees(identity, known)) throw unknownSession()
  return known
}
