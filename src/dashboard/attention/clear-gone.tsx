import { Anchor } from '@mantine/core'

/** Takes away at once what is only still there because nothing moves by itself. One is cleared by its own button. */
export function ClearGone({ count, onClear }: { count: number; onClear: () => void }) {
  if (count < 2) return null
  return (
    <Anchor component="button" type="button" size="sm" w="max-content" onClick={onClear}>
      Clear the {count} that are done
    </Anchor>
  )
}
