import { CloseButton, Text, Title } from '@mantine/core'
import { useEffect, useRef } from 'react'
import type { Form } from '../../elicitation/form/field.ts'
import { OutcomeDocument, type OutcomeFragment, type RequestFragment } from '../generated/graphql.ts'
import { Link } from '../routing/link.tsx'
import { useLive } from '../server/live.tsx'
import { announce } from '../shell/announcer.tsx'
import { Facts } from '../text/facts.tsx'
import { AnsweredWith } from './answered-with.tsx'
import classes from './banner.module.css'
import type { DraftInHand } from './draft.ts'
import { Entered } from './entered.tsx'
import { deliveryOf, endingOf, expiredMeans, surfaceName } from './outcome-text.ts'
import { QuestionText } from './question.tsx'

const presenceEveryMs = 5_000
const unknownEnding = { title: 'No longer waiting', tone: 'neutral' } as const

/** What became of a request that was on the page: how it ended, by whom, and whether the agent has it. */
export function Settled(props: {
  request: RequestFragment
  form: Form
  draft: DraftInHand
  answered: OutcomeFragment | null
  withSession: boolean
  onClear: () => void
}) {
  const { request, form, draft, answered, withSession, onClear } = props
  const undelivered = useRef(true)
  const live = useLive(
    OutcomeDocument,
    { id: request.id },
    {
      concerns: (event) => event.elicitation?.id === request.id,
      everyMs: undelivered.current ? presenceEveryMs : null,
    },
  )
  const fetched = live.data?.elicitation
  const outcome = fetched && fetched.status !== 'PENDING' ? fetched : answered
  undelivered.current = !outcome?.deliveredAt
  const { title, tone } = outcome ? endingOf(outcome) : unknownEnding
  const delivery = outcome ? deliveryOf(outcome) : null
  const tool = request.toolName ?? 'The request'

  const known = outcome !== null && outcome !== undefined
  useEffect(() => {
    if (known) announce(`${tool}: ${title}${delivery ? `, ${delivery}` : ''}.`)
  }, [tool, known, title, delivery])

  return (
    <div className={classes.body} data-tone={tone}>
      <div className={classes.top}>
        <Title order={2} size="h3" className={classes.ending} data-tone={tone}>
          {title}
        </Title>
        <CloseButton aria-label={`Clear ${tool}`} title="Clear" onClick={onClear} />
      </div>
      <Facts>
        <bdi className={classes.tool}>{tool}</bdi>
        {withSession && (
          <span>
            <Link to={`/sessions/${request.session.id}`}>
              <bdi>{request.session.title}</bdi>
            </Link>
          </span>
        )}
        {outcome?.respondedBy && (
          <span>
            by <bdi>{outcome.respondedBy.name}</bdi> ({surfaceName(outcome.respondedBy.surface)})
          </span>
        )}
        {delivery && <span>{delivery}</span>}
      </Facts>
      {outcome?.status === 'EXPIRED' && <Text size="sm">{expiredMeans}</Text>}
      {outcome && <AnsweredWith outcome={outcome} />}
      {draft.touched && !answered && <Entered form={form} draft={draft} />}
      <QuestionText request={request} />
    </div>
  )
}
