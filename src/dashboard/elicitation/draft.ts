import { useCallback, useEffect, useMemo, useState } from 'react'
import type { Form } from '../../elicitation/form/field.ts'
import { initialEntries } from '../form/content.ts'
import { type Entry, isUntouched } from '../form/entry.ts'

/** What a person has entered so far: by field position, where it differs from what the form starts with, and a note. */
export type Draft = { entries: Record<number, Entry>; note: string }

const emptyDraft: Draft = { entries: {}, note: '' }

const storageKey = (requestId: string) => `holdpoint.draft.${requestId}`

function readDraft(requestId: string): Draft {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(storageKey(requestId)) ?? 'null')
    return stored === null ? emptyDraft : (stored as Draft)
  } catch {
    // Storage may be off, or hold what an older page wrote; a draft is a convenience.
    return emptyDraft
  }
}

function keepDraft(requestId: string, draft: Draft) {
  try {
    if (draft.note === '' && Object.keys(draft.entries).length === 0)
      sessionStorage.removeItem(storageKey(requestId))
    else sessionStorage.setItem(storageKey(requestId), JSON.stringify(draft))
  } catch {
    // The form still works without.
  }
}

export function forgetDraft(requestId: string) {
  keepDraft(requestId, emptyDraft)
}

export type DraftInHand = {
  entryOf(index: number): Entry
  note: string
  enter(index: number, entry: Entry): void
  setNote(note: string): void
  /** Whether the person has entered anything. */
  touched: boolean
}

/**
 * The draft of one request, kept for this tab: it outlives a reload, a reconnect and a new sign-in, and does not outlive
 * the tab, for what people enter is nobody else's.
 */
export function useDraft(requestId: string, form: Form): DraftInHand {
  const [draft, setDraft] = useState(() => readDraft(requestId))
  const [initial] = useState(() => initialEntries(form))

  useEffect(() => keepDraft(requestId, draft), [requestId, draft])

  const enter = useCallback(
    (index: number, entry: Entry) =>
      setDraft(({ entries, note }) => {
        const { [index]: _replaced, ...others } = entries
        const field = form.fields[index]
        return { note, entries: field && isUntouched(field, entry) ? others : { ...others, [index]: entry } }
      }),
    [form],
  )
  return useMemo(
    () => ({
      entryOf: (index) => draft.entries[index] ?? initial[index] ?? '',
      note: draft.note,
      enter,
      setNote: (note) => setDraft(({ entries }) => ({ entries, note })),
      touched: draft.note !== '' || Object.keys(draft.entries).length > 0,
    }),
    [draft, initial, enter],
  )
}
