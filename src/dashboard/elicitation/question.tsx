import { Title } from '@mantine/core'
import { memo, useEffect, useRef, useState } from 'react'
import type { RequestFragment } from '../generated/graphql.ts'
import { Link } from '../routing/link.tsx'
import { Facts } from '../text/facts.tsx'
import { StrangerText } from '../text/stranger-text.tsx'
import classes from './banner.module.css'
import { Countdown } from './countdown.tsx'
import { Listening } from './listening.tsx'

/** Who asks for what, and until when. `withSession` where the page itself does not say which session it is. */
export const QuestionHead = memo(function QuestionHead(props: {
  request: RequestFragment
  withSession: boolean
}) {
  const { request, withSession } = props
  const { toolName, serverName, callerAddress, session } = request
  return (
    <>
      <div className={classes.top}>
        <span className={classes.kind}>Approval request</span>
        <Countdown expiresAt={request.expiresAt} />
      </div>
      <div>
        <Title order={2} size="h3" className={classes.tool}>
          <bdi>{toolName ?? 'A question'}</bdi>
        </Title>
        <Facts>
          {withSession && (
            <span>
              <Link to={`/sessions/${session.id}`}>
                <bdi>{session.title}</bdi>
              </Link>
            </span>
          )}
          <span>{serverName ? <bdi>{serverName}</bdi> : 'an MCP server of this session'}</span>
          {callerAddress && !isLoopback(callerAddress) && <span>asks from {callerAddress}</span>}
          <Listening listening={request.listening} lastPolledAt={request.lastPolledAt} />
        </Facts>
      </div>
    </>
  )
})

function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./.test(address)
}

/** What was asked, in the words of the MCP server: set apart, and labelled as somebody else's words. */
export const QuestionText = memo(function QuestionText(props: {
  request: Pick<RequestFragment, 'message' | 'context'>
}) {
  const { request } = props
  return (
    <div className={classes.quote}>
      <div className={classes.source}>From the MCP server:</div>
      <ScrollingText className={classes.message} label="Message from the MCP server" text={request.message} />
      {request.context && (
        <ScrollingText
          className={classes.context}
          label="Context from the MCP server"
          text={request.context}
        />
      )}
    </div>
  )
})

/** Scrolls when it is long, and then by keyboard too. */
function ScrollingText({
  className,
  label,
  text,
}: {
  className: string | undefined
  label: string
  text: string
}) {
  const box = useRef<HTMLDivElement>(null)
  const [overflows, setOverflows] = useState(false)
  useEffect(() => {
    const element = box.current
    if (!element) return
    const observer = new ResizeObserver(() => setOverflows(element.scrollHeight > element.clientHeight + 1))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const scrollable = overflows ? ({ tabIndex: 0, role: 'group', 'aria-label': label } as const) : {}
  return (
    <div ref={box} className={className} {...scrollable}>
      <StrangerText component="div" inherit>
        {text}
      </StrangerText>
    </div>
  )
}
