import type { Log } from '../base/log.ts'
import { expireDue } from '../elicitation/expire.ts'
import { sweepStranded } from '../elicitation/strand.ts'
import type { Journal } from '../events/journal.ts'
import { forgetHosts, hostForgottenMs } from '../gate/host-report.ts'
import { giveUpLostProcesses, noticeLostProcesses } from '../session/lost-process.ts'
import type { Job } from './boss.ts'

/** The backstop: finds what fell through everywhere else. In a healthy house it finds nothing. */
export function sweepJob(journal: Journal, log: Pick<Log, 'warn'>): Job {
  const listeningSince = journal.now()
  const report = (sessions: string[], what: string) => {
    if (sessions.length > 0) log.warn({ sessions }, what)
  }
  return {
    name: 'sweep',
    cron: '*/5 * * * *',
    periodSeconds: 5 * 60,
    async run(stopping) {
      await expireDue(journal, stopping)
      report(await sweepStranded(journal, stopping), 'sessions were blocked on nothing')
      report(
        await noticeLostProcesses(journal, listeningSince, stopping),
        'the runners of these sessions are not heard of any more',
      )
      report(
        await giveUpLostProcesses(journal, listeningSince, stopping),
        'the agents of these sessions were given up',
      )
      await forgetHosts(journal.database, new Date(journal.now().getTime() - hostForgottenMs))
    },
  }
}
