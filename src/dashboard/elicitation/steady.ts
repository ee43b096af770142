import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** How long buttons stay dead after they appeared or moved: long enough that a tap meant for something else is over. */
export const deadMs = 500

const shiftPixelsMin = 3

type Place = { pageTop: number; height: number; rowTop: number }

/**
 * Whether the buttons in `row` have been where they are for half a second. Things above a card come and go, and a finger on
 * its way down must not land on an Accept that was not there before. Scrolling is the finger's own doing and does not
 * count: the card stays where it is on the page.
 */
export function useSteady(card: RefObject<HTMLElement | null>, row: RefObject<HTMLElement | null>) {
  const [steady, setSteady] = useState(false)
  const movedAt = useRef(performance.now())
  const place = useRef<Place | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)

  const look = useRef(() => {
    const now = placeOf(card.current, row.current)
    const last = place.current
    place.current = now
    if (!now) return
    const laidOutAnew = !last || now.pageTop !== last.pageTop || now.height !== last.height
    if (!laidOutAnew || (last && Math.abs(now.rowTop - last.rowTop) < shiftPixelsMin)) return
    movedAt.current = performance.now()
    setSteady(false)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setSteady(true), deadMs)
  })

  useLayoutEffect(() => look.current())
  useEffect(() => {
    const observer = new ResizeObserver(() => look.current())
    observer.observe(document.body)
    if (card.current) observer.observe(card.current)
    const scrolled = () => look.current()
    window.addEventListener('scroll', scrolled, { passive: true })
    return () => {
      observer.disconnect()
      window.removeEventListener('scroll', scrolled)
      clearTimeout(timer.current)
    }
  }, [card])

  return {
    steady,
    /** Asked at the moment of a press, when a shift may be too fresh to have been rendered. */
    isDead: () => {
      look.current()
      return performance.now() - movedAt.current < deadMs
    },
  }
}

function placeOf(card: HTMLElement | null, row: HTMLElement | null): Place | null {
  if (!card || !row) return null
  const { top, height } = card.getBoundingClientRect()
  return {
    pageTop: Math.round(top + window.scrollY),
    height: Math.round(height),
    rowTop: row.getBoundingClientRect().top,
  }
}
