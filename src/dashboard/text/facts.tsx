import type { ReactNode } from 'react'
import classes from './facts.module.css'

/** Small facts in a row with dots between them; no dot at the start of a line, however it wraps. */
export function Facts({ children }: { children: ReactNode }) {
  return <div className={classes.facts}>{children}</div>
}
