const hour = 60
const day = 24 * hour

/** How long a key may go on working beside its successor: from not at all to the longest that the server allows. */
export const overlaps: readonly { minutes: number; text: string }[] = [
  { minutes: 0, text: '0 minutes: it ends at once' },
  { minutes: 15, text: '15 more minutes' },
  { minutes: hour, text: '1 more hour' },
  { minutes: 8 * hour, text: '8 more hours' },
  { minutes: day, text: '24 more hours' },
  { minutes: 3 * day, text: '3 more days' },
  { minutes: 7 * day, text: '7 more days' },
  { minutes: 30 * day, text: '30 more days' },
]

/** The server's own default, which no query tells. */
export const overlapDefaultMinutes = day
