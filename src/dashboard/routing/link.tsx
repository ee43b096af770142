import { Anchor } from '@mantine/core'
import type { MouseEvent, ReactNode } from 'react'
import { navigate } from './location.ts'

/** A link within the dashboard. With a modifier key it does what links do. */
export function Link(props: {
  to: string
  className?: string | undefined
  current?: boolean
  children: ReactNode
}) {
  const { to, className, current, children } = props
  return (
    <Anchor
      href={to}
      className={className}
      inherit
      aria-current={current ? 'page' : undefined}
      onClick={(event: MouseEvent) => follow(event, to)}
    >
      {children}
    </Anchor>
  )
}

function follow(event: MouseEvent, to: string) {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  navigate(to)
}
