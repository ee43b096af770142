import { VisuallyHidden } from '@mantine/core'
import { useEffect, useState } from 'react'

const announcements = new EventTarget()

/** Has a screen reader say something that the page shows anyway. Nothing moves and no focus is taken. */
export function announce(text: string) {
  announcements.dispatchEvent(new CustomEvent('announce', { detail: text }))
}

// Readers take the words up as they appear; what lingers would be read again by whoever browses past it.
const saidForMs = 2_000

/** The page's one live region. It is there before the first word, or readers would not be listening. */
export function Announcer() {
  const [said, setSaid] = useState<{ id: number; text: string }[]>([])
  useEffect(() => {
    let next = 0
    const timers = new Set<ReturnType<typeof setTimeout>>()
    const say = (event: Event) => {
      const id = next++
      setSaid((earlier) => [...earlier.slice(-9), { id, text: (event as CustomEvent<string>).detail }])
      const timer = setTimeout(() => {
        timers.delete(timer)
        setSaid((earlier) => earlier.filter((word) => word.id !== id))
      }, saidForMs)
      timers.add(timer)
    }
    announcements.addEventListener('announce', say)
    return () => {
      announcements.removeEventListener('announce', say)
      for (const timer of timers) clearTimeout(timer)
    }
  }, [])
  return (
    <VisuallyHidden role="log" aria-live="polite" aria-label="Announcements">
      {said.map(({ id, text }) => (
        <div key={id}>{text}</div>
      ))}
    </VisuallyHidden>
  )
}
