import { useCallback, useMemo, useRef, useState } from 'react'
import { useClient } from 'urql'
import type { Json } from '../../base/json.ts'
import type { Form } from '../../elicitation/form/field.ts'
import {
  type CheckField,
  loadRules,
  noProblems,
  type Problems,
  problemsByField,
  problemsOf,
  readContent,
} from '../form/content.ts'
import { isEmpty } from '../form/entry.ts'
import {
  AnswerDocument,
  type ElicitationAction,
  type OutcomeFragment,
  type RequestFragment,
} from '../generated/graphql.ts'
import type { DraftInHand } from './draft.ts'

export type Answering = {
  sending: ElicitationAction | null
  problems: Problems
  /** Why the last try was refused or did not get through, apart from the fields. */
  failure: string | null
  /** The outcome, once this page's own answer was taken. */
  answered: OutcomeFragment | null
  /** Somebody else, or the clock, was first. */
  beaten: boolean
  /** Gives the position of the first field that needs another look, or null. */
  answer(action: ElicitationAction): Promise<number | null>
  /** Call when a field changed or lost the focus. */
  recheck(index: number, when: 'change' | 'blur'): void
}

/**
 * A field loses the focus when somebody presses a button: words that appeared then would move the button from under the
 * finger, and the press would count for nothing.
 */
const pressMs = 300

/** Answers one request: checks the form by the server's own rules first, sends once, and makes sense of what comes back. */
export function useAnswering(request: RequestFragment, form: Form, draft: DraftInHand): Answering {
  const client = useClient()
  const [sending, setSending] = useState<ElicitationAction | null>(null)
  const [problems, setProblems] = useState<Problems>(noProblems)
  const [failure, setFailure] = useState<string | null>(null)
  const [answered, setAnswered] = useState<OutcomeFragment | null>(null)
  const [beaten, setBeaten] = useState(false)
  // State is a render late; two clicks can come within one.
  const busy = useRef(false)
  const latest = useRef(draft)
  latest.current = draft

  async function send(
    action: ElicitationAction,
    content: Record<string, Json> | null,
  ): Promise<number | null> {
    const note = latest.current.note.trim() === '' ? null : latest.current.note
    const result = await client
      .mutation(AnswerDocument, { id: request.id, action, content, note })
      .toPromise()
    const verdict = result.data?.respondToElicitation
    if (!verdict) {
      setFailure(unreachable(result.error?.graphQLErrors[0]?.message))
      return null
    }
    switch (verdict.__typename) {
      case 'RespondToElicitationSuccess':
        setAnswered(verdict.elicitation)
        return null
      case 'AlreadyResolvedError':
      case 'ExpiredError':
        setBeaten(true)
        return null
      case 'InvalidContentError': {
        const found = problemsByField(form, verdict.fields)
        setProblems(found)
        setFailure(found.size > 0 ? null : verdict.message)
        return first(found)
      }
      default:
        setFailure(verdict.message)
        return null
    }
  }

  async function answer(action: ElicitationAction): Promise<number | null> {
    if (busy.current) return null
    busy.current = true
    setSending(action)
    setFailure(null)
    try {
      if (action !== 'ACCEPT' || request.mode === 'URL') return await send(action, null)
      const reading = readContent(form, (index) => latest.current.entryOf(index), await rulesFor(form))
      setProblems(reading.ok ? noProblems : reading.problems)
      return reading.ok ? await send(action, reading.content) : first(reading.problems)
    } finally {
      busy.current = false
      setSending(null)
    }
  }

  const recheck = useCallback(
    (index: number, when: 'change' | 'blur') => {
      const field = form.fields[index]
      if (!field) return
      const wait = when === 'blur' ? new Promise((resolve) => setTimeout(resolve, pressMs)) : null
      void Promise.all([rulesFor(form), wait]).then(([check]) => {
        const entry = latest.current.entryOf(index)
        setProblems((known) => {
          // While somebody is still typing, only what was already pointed out is looked at again. What stands there when
          // the field is left may come from the server, which knows more rules than this page.
          if (when === 'change' ? !known.has(index) : known.has(index) || isEmpty(entry)) return known
          const found = problemsOf(field, entry, check)
          const others = new Map([...known].filter(([position]) => position !== index))
          return found.length > 0 ? others.set(index, found) : others
        })
      })
    },
    [form],
  )

  const newest = useRef(answer)
  newest.current = answer
  return useMemo(
    () => ({
      sending,
      problems,
      failure,
      answered,
      beaten,
      answer: (action) => newest.current(action),
      recheck,
    }),
    [sending, problems, failure, answered, beaten, recheck],
  )
}

const leaveToServer: CheckField = (_field, value) => ({ ok: true, value: value as Json | undefined })

/** Without the rules (an old page after an update) the answer still goes out: the server checks it anyway. */
function rulesFor(form: Form): Promise<CheckField> {
  return form.fields.length === 0 || form.confirmation !== null
    ? Promise.resolve(leaveToServer)
    : loadRules().catch(() => leaveToServer)
}

function first(problems: Problems): number | null {
  return problems.size > 0 ? Math.min(...problems.keys()) : null
}

function unreachable(message: string | undefined): string {
  return (
    message ??
    'Holdpoint cannot be reached, so nothing was recorded as far as this page knows. Press again: the same answer counts once.'
  )
}
