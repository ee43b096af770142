import type { RequestFragment } from '../generated/graphql.ts'
import { Ago } from '../text/moment.tsx'
import classes from './banner.module.css'

/** Whether anybody is there to take the answer. */
export function Listening({ listening, lastPolledAt }: Pick<RequestFragment, 'listening' | 'lastPolledAt'>) {
  return (
    <span className={classes.listening} data-listening={listening}>
      <span className={classes.dot} />
      {listening === 'LISTENING' && 'waiting for the answer'}
      {listening === 'NOT_YET' && 'has not asked for the answer yet'}
      {listening === 'SILENT' && (
        <>stopped asking {lastPolledAt && <Ago at={lastPolledAt} />}: an answer may reach nobody</>
      )}
    </span>
  )
}
