import { useRef, useState } from 'react'
import type { OperationResult } from 'urql'

export type FieldProblems = ReadonlyMap<string, string>

const noProblems: FieldProblems = new Map()

type Verdict = { __typename: string; message?: string; fields?: readonly { name: string; message: string }[] }

/**
 * The one pattern of every form and button that changes something: one submission at a time, and a refusal comes back as
 * words, at the fields that it is about where the server names them. Documents call their mutation `outcome`.
 */
export function useSubmit() {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const [problems, setProblems] = useState(noProblems)
  const running = useRef(false)

  async function submit<Data extends { outcome: Verdict }>(
    send: () => Promise<OperationResult<Data>>,
  ): Promise<Data['outcome'] | null> {
    if (running.current) return null
    running.current = true
    setBusy(true)
    setFailure(null)
    setProblems(noProblems)
    try {
      const result = await send()
      const verdict = result.data?.outcome
      if (!verdict) {
        setFailure(
          result.error?.graphQLErrors[0]?.message ?? 'Holdpoint cannot be reached. Try again in a moment.',
        )
        return null
      }
      if (verdict.__typename.endsWith('Success')) return verdict
      if (verdict.fields) setProblems(new Map(verdict.fields.map(({ name, message }) => [name, message])))
      else setFailure(verdict.message ?? 'The server refused this.')
      return null
    } finally {
      running.current = false
      setBusy(false)
    }
  }

  return { busy, failure, problems, submit }
}
