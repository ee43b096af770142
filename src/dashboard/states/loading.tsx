import { Skeleton, Stack, VisuallyHidden } from '@mantine/core'
import { useEffect, useState } from 'react'

const patienceMs = 150

/** What comes in a moment needs no announcement: a flash of grey boxes is worse than nothing. */
export function PageLoading() {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), patienceMs)
    return () => clearTimeout(timer)
  }, [])
  if (!late) return <div data-loading />
  return (
    <Stack gap="sm" role="status" data-loading>
      <VisuallyHidden>Loading…</VisuallyHidden>
      <Skeleton height={24} width="12rem" />
      <Skeleton height={120} />
      <Skeleton height={120} />
    </Stack>
  )
}
