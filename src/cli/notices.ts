import type { Terminal } from './terminal.ts'

/** What the person who runs an agent is told beside it. */
export interface Notices {
  say(text: string): void
  /** While an agent draws on the same terminal, a line of ours would land in its picture. */
  hold(): void
  release(): void
}

export function createNotices({ note }: Terminal): Notices {
  let held: string[] | null = null
  function say(text: string): void {
    if (held === null) note(`holdpoint: ${text}`)
    else held.push(text)
  }
  return {
    say,
    hold() {
      if (process.stderr.isTTY) held = []
    },
    release() {
      const texts = held ?? []
      held = null
      for (const text of texts) say(text)
    },
  }
}
