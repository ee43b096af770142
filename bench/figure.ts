/** One line of the table: ours beside what it is measured against in the same run. */
export interface Figure {
  what: string
  ours: number
  /** The floor's or the peer's; null where the goal is a number of its own. */
  against: number | null
  unit: string
  /** What the goal speaks of: a ratio of the two, or ours. */
  value: number
  spread: [lowest: number, highest: number] | null
  goal: { atLeast: number } | { atMost: number } | null
}

export function isMet({ goal, value }: Figure): boolean | null {
  if (goal === null) return null
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost
}

export function printFigures(figures: Figure[]): void {
  console.table(
    figures.map((figure) => {
      const { what, ours, against, unit, spread, goal } = figure
      const met = isMet(figure)
      return {
        what,
        ours: `${rounded(ours)} ${unit}`,
        against: against === null ? '' : `${rounded(against)} ${unit}`,
        ratio: against === null ? '' : rounded(ours / against),
        spread: spread === null ? '' : spread.map(rounded).join(' to '),
        goal: goal === null ? '' : 'atLeast' in goal ? `at least ${goal.atLeast}` : `at most ${goal.atMost}`,
        met: met === null ? '' : met ? 'yes' : 'NO',
      }
    }),
  )
}

function rounded(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2)
}
