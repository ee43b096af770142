/**
 * What a page shows and what really came have the same ids, moments and secrets only by their place. What stands in one place
 * is the same thing from then on: `real` turns what the page shows into it, `shown` the other way round.
 */
export interface Shown {
  /** A text of the page, with what has really come in the place of what is shown. */
  real(text: string): string
  /** What really came, with what the page shows in its place, as far as that is not known to be something else. */
  shown(text: string, page: string): string
}

const changing =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z|\bhp_[\w-]{20,}|(?<![\w-])[\w-]{43}(?![\w-])|(?<="eventCursor": |"(?:start|end)?[cC]ursor": )"[^"]*"/g

export function createShown(fixed: [shown: string, real: string][]): Shown {
  const known = new Map<string, string>()
  const swap = (text: string, pairs: Iterable<[string, string]>) => {
    let swapped = text
    for (const [from, to] of pairs) swapped = swapped.replaceAll(from, to)
    return swapped
  }
  return {
    real: (text) => swap(swap(text, known), fixed),
    shown(text, page) {
      const came = swap(
        text,
        fixed.map(([shown, real]) => [real, shown]),
      )
      const expected = page.match(changing) ?? []
      let place = 0
      return came.replace(changing, (real) => {
        const shown = expected[place++]
        if (shown === undefined) return real
        if (!known.has(shown)) known.set(shown, real)
        return known.get(shown) === real ? shown : real
      })
    },
  }
}
