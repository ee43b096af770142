type Style = Intl.DateTimeFormatOptions

const formats = new Map<Style, Intl.DateTimeFormat>()
const brief: Style = { dateStyle: 'medium', timeStyle: 'short' }
const exact: Style = { dateStyle: 'full', timeStyle: 'medium' }

/** A moment in the reader's own calendar and zone. */
export const briefDate = (at: string) => formatted(at, brief)
export const exactDate = (at: string) => formatted(at, exact)

function formatted(at: string, style: Style): string {
  // To make a format takes a thousand times as long as to use one, and a page shows hundreds of moments.
  const format = formats.get(style) ?? new Intl.DateTimeFormat(undefined, style)
  formats.set(style, format)
  return format.format(new Date(at))
}
