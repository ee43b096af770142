import { Alert, Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { useClient } from 'urql'
import { type KeyLineFragment, RevokeKeyDocument } from '../generated/graphql.ts'
import { Link } from '../routing/link.tsx'
import { useSubmit } from '../server/submit.ts'
import { useNow } from '../text/clock.ts'
import { Facts } from '../text/facts.tsx'
import { Ago, Moment } from '../text/moment.tsx'
import classes from './keys.module.css'

export function KeyLines({ keys }: { keys: readonly KeyLineFragment[] }) {
  return (
    <ul className={classes.list} aria-label="Keys">
      {keys.map((key) => (
        <KeyLine key={key.id} line={key} />
      ))}
    </ul>
  )
}

function KeyLine({ line }: { line: KeyLineFragment }) {
  const client = useClient()
  const { busy, failure, submit } = useSubmit()
  const [asked, setAsked] = useState(false)
  const { id, name, prefix, role, sessionId, createdAt, expiresAt, lastUsedAt, revokedAt } = line
  const now = useNow()
  const ended = revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= now)
  return (
    <li className={classes.line} data-ended={ended || undefined}>
      <div className={classes.what}>
        <div>
          <bdi className={classes.name}>{name}</bdi>{' '}
          <span className={classes.role}>{role.toLowerCase()}</span>
        </div>
        <Facts>
          <code>{prefix}…</code>
          <span>
            created <Ago at={createdAt} />
          </span>
          <span>
            {lastUsedAt ? (
              <>
                last used <Ago at={lastUsedAt} />
              </>
            ) : (
              'never used'
            )}
          </span>
          {revokedAt ? (
            <span>
              revoked <Ago at={revokedAt} />
            </span>
          ) : (
            expiresAt && (
              <span>
                {ended ? 'ended' : 'ends'} <Moment at={expiresAt} />
              </span>
            )
          )}
          {sessionId && (
            <span>
              bound to <Link to={`/sessions/${sessionId}`}>a session</Link>
            </span>
          )}
        </Facts>
      </div>
      {!ended && (
        <Button
          size="sm"
          variant="default"
          aria-expanded={asked}
          aria-label={`Revoke ${name}`}
          onClick={() => setAsked(!asked)}
        >
          Revoke
        </Button>
      )}
      {asked && !ended && (
        <Alert color="orange" variant="light" className={classes.ask}>
          <Text size="sm">Whoever uses this key is signed out at once, and it never works again.</Text>
          <Group gap="xs" mt="xs">
            <Button
              color="red"
              size="sm"
              aria-disabled={busy || undefined}
              onClick={() => void submit(() => client.mutation(RevokeKeyDocument, { id }).toPromise())}
            >
              Revoke this key
            </Button>
            <Button variant="default" size="sm" onClick={() => setAsked(false)}>
              Keep it
            </Button>
          </Group>
          {failure && (
            <Text size="sm" c="var(--hp-bad)" role="alert">
              {failure}
            </Text>
          )}
        </Alert>
      )}
    </li>
  )
}
