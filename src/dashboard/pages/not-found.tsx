import { Link } from '../routing/link.tsx'
import { NothingHere } from '../states/empty.tsx'

export function NotFoundPage() {
  return (
    <NothingHere title="There is no such page">
      The address may be old or mistyped. Everything that needs you is on the <Link to="/">home page</Link>.
    </NothingHere>
  )
}
