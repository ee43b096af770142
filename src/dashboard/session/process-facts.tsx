import type { SessionQuery } from '../generated/graphql.ts'
import { Ago } from '../text/moment.tsx'

type Process = NonNullable<NonNullable<SessionQuery['session']>['process']>

/** Whether the agent is alive, as its runner reports; rows of a list of facts. */
export function ProcessFacts({ process }: { process: Process | null }) {
  return (
    <>
      <dt>Process</dt>
      <dd>
        {process ? (
          <ProcessState process={process} />
        ) : (
          'not started by holdpoint run, so nothing is known of it'
        )}
      </dd>
      {process?.command && (
        <>
          <dt>Command</dt>
          <dd>
            <bdi>{process.command}</bdi>
          </dd>
        </>
      )}
    </>
  )
}

function ProcessState({ process }: { process: Process }) {
  const { alive, host, pid, lastSeenAt, endedAt, exitCode, signal } = process
  const where = `on ${host}${pid === null ? '' : `, pid ${pid}`}`
  if (endedAt) {
    return (
      <>
        ended <Ago at={endedAt} /> {signal ? `by ${signal}` : `with code ${exitCode ?? 'unknown'}`} ({where})
      </>
    )
  }
  return (
    <>
      {alive ? 'alive' : 'not heard of any more'} {where}
      {lastSeenAt && (
        <>
          , last seen <Ago at={lastSeenAt} />
        </>
      )}
    </>
  )
}
