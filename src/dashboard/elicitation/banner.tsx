import { Alert, Text } from '@mantine/core'
import { memo, useEffect, useId, useLayoutEffect, useMemo, useRef } from 'react'
import type { ElicitationAction, RequestFragment } from '../generated/graphql.ts'
import { announce } from '../shell/announcer.tsx'
import { useViewer } from '../viewer/viewer.tsx'
import { Actions } from './actions.tsx'
import { type Answering, useAnswering } from './answering.ts'
import classes from './banner.module.css'
import { type DraftInHand, forgetDraft, useDraft } from './draft.ts'
import { FormFields } from './form-fields.tsx'
import { formOfRequest } from './form-of-request.ts'
import { QuestionHead, QuestionText } from './question.tsx'
import { Settled } from './settled.tsx'
import { useSteady } from './steady.ts'
import { Target } from './target.tsx'
import { WhatIsAsked } from './what-is-asked.tsx'

/**
 * One request: the form while it is pending, then what became of it, in the same place and no smaller, so that nothing below
 * jumps under a finger.
 */
export const Banner = memo(function Banner(props: {
  request: RequestFragment
  pending: boolean
  /** The name of its region: "Approval request", counted where there are several. */
  name: string
  withSession: boolean
  /** Must stay the same from one rendering to the next, as everything here: a page may hold hundreds of these. */
  onClear: (id: string) => void
}) {
  const { request, pending, name, withSession, onClear } = props
  const form = useMemo(() => formOfRequest(request.form), [request.form])
  const draft = useDraft(request.id, form)
  const answering = useAnswering(request, form, draft)
  const open = pending && !answering.answered && !answering.beaten
  const card = useRef<HTMLElement>(null)
  const height = useRef(0)
  const hadFocus = useRef(false)
  // Read while the form is still on the page; afterwards the focus is already lost.
  if (!open && card.current?.dataset.open) hadFocus.current = card.current.contains(document.activeElement)

  useLayoutEffect(() => {
    if (open) height.current = card.current?.getBoundingClientRect().height ?? 0
  })
  useEffect(() => {
    if (open || !hadFocus.current) return
    hadFocus.current = false
    card.current?.focus({ preventScroll: true })
  }, [open])

  if (!open) {
    return (
      <section
        ref={card}
        className={classes.card}
        tabIndex={-1}
        style={{ minHeight: height.current || undefined }}
      >
        <Settled
          request={request}
          form={form}
          draft={draft}
          answered={answering.answered}
          withSession={withSession}
          onClear={() => {
            forgetDraft(request.id)
            onClear(request.id)
            // The button that was pressed goes with the card; the keyboard goes on at the top.
            document.getElementById('main')?.focus({ preventScroll: true })
          }}
        />
      </section>
    )
  }
  return (
    <section ref={card} className={classes.card} data-open aria-label={name}>
      <div className={classes.body}>
        <QuestionHead request={request} withSession={withSession} />
        <QuestionText request={request} />
        {request.mode === 'URL' && request.url && <Target url={request.url} />}
      </div>
      <AnswerForm request={request} form={form} draft={draft} answering={answering} card={card} />
    </section>
  )
})

const AnswerForm = memo(function AnswerForm(props: {
  request: RequestFragment
  form: ReturnType<typeof formOfRequest>
  draft: DraftInHand
  answering: Answering
  card: React.RefObject<HTMLElement | null>
}) {
  const { request, form, draft, answering, card } = props
  const { may, role } = useViewer()
  const id = useId()
  const row = useRef<HTMLDivElement>(null)
  const { steady, isDead } = useSteady(card, row)

  if (!may('answer')) {
    return (
      <div className={classes.body}>
        <WhatIsAsked form={form} />
        <Text size="sm" c="dimmed">
          You are signed in as {role.toLowerCase()}: you can follow this request, not answer it.
        </Text>
      </div>
    )
  }

  async function answer(action: ElicitationAction) {
    if (isDead()) return
    const wrong = await answering.answer(action)
    if (wrong === null) return
    announce('Not sent: look at the marked fields.')
    const field = document.getElementById(`${id}-field-${wrong}`)
    const control = field?.matches('input, textarea, select')
      ? field
      : field?.querySelector<HTMLElement>('input')
    control?.focus()
  }

  return (
    // Enter in a field would submit a form; only the buttons answer.
    <form noValidate onSubmit={(event) => event.preventDefault()}>
      {request.mode === 'FORM' && (
        <div className={classes.body}>
          <FormFields
            idPrefix={id}
            form={form}
            draft={draft}
            problems={answering.problems}
            onEntry={(index) => answering.recheck(index, 'change')}
            onBlur={(index) => answering.recheck(index, 'blur')}
          />
        </div>
      )}
      <div ref={row} className={classes.actions}>
        {answering.failure && (
          <Alert color="red" variant="light" p="xs" role="alert">
            {answering.failure}
          </Alert>
        )}
        {answering.problems.size > 0 && (
          <Text size="sm" c="var(--hp-bad)">
            {answering.problems.size === 1 ? '1 field needs' : `${answering.problems.size} fields need`}{' '}
            another look.
          </Text>
        )}
        <Actions
          acceptLabel={request.mode === 'URL' ? 'Done' : 'Accept'}
          sending={answering.sending}
          dead={!steady}
          note={draft.note}
          onNote={draft.setNote}
          onAnswer={(action) => void answer(action)}
        />
      </div>
    </form>
  )
})
