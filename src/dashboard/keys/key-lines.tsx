import { Alert, Button, Group, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useClient } from 'urql'
import type { Json } from '../../base/json.ts'
import { type KeyLineFragment, RevokeKeyDocument } from '../generated/graphql.ts'
import { Link } from '../routing/link.tsx'
import { useSubmit } from '../server/submit.ts'
import { useNow } from '../text/clock.ts'
import { Facts } from '../text/facts.tsx'
import { Ago, Moment } from '../text/moment.tsx'
import classes from './keys.module.css'
import { MadeKey } from './made-key.tsx'
import { RotateDialog, type Rotated } from './rotate-dialog.tsx'
import { successionOf } from './succession.ts'

export function KeyLines(props: {
  keys: readonly KeyLineFragment[]
  rotations: readonly { node: { data: Json } }[]
}) {
  const { keys, rotations } = props
  const { replacedBy, replaces } = successionOf(rotations)
  const prefixes = new Map(keys.map(({ id, prefix }) => [id, prefix]))
  const [asked, setAsked] = useState<KeyLineFragment | null>(null)
  // All of them: the next one must not take a secret away that nobody has copied yet.
  const [rotated, setRotated] = useState<readonly Rotated[]>([])

  useEffect(() => {
    if (asked === null) return
    return () => {
      // The button that opened the dialog is gone when the key was ended or rotated meanwhile.
      if (document.activeElement === document.body) focusLine(asked)
    }
  }, [asked])

  return (
    <>
      {rotated.map((each) => (
        <MadeKey
          key={each.apiKey.id}
          name={each.apiKey.name}
          secret={each.secret}
          takesFocus
          onTaken={() => {
            setRotated((all) => all.filter((other) => other !== each))
            focusLine(each.replaced)
          }}
        >
          {each.replaced.revokedAt ? (
            'The old one is revoked.'
          ) : (
            <>
              The old one works until <Moment at={each.replaced.expiresAt!} />.
            </>
          )}
        </MadeKey>
      ))}
      <ul className={classes.list} aria-label="Keys">
        {keys.map((key) => (
          <KeyLine
            key={key.id}
            line={key}
            replacedBy={replacedBy.get(key.id) ?? null}
            replaces={replaces.get(key.id) ?? []}
            prefixes={prefixes}
            onRotate={() => setAsked(key)}
          />
        ))}
      </ul>
      {asked && (
        <RotateDialog
          line={asked}
          successorPrefix={prefixes.get(replacedBy.get(asked.id) ?? '') ?? null}
          onRotated={(made) => setRotated((others) => [made, ...others])}
          onClosed={() => setAsked(null)}
        />
      )}
    </>
  )
}

const domIdOf = ({ id }: { id: string }) => `key-${id}`

function focusLine(key: { id: string }) {
  document.getElementById(domIdOf(key))?.focus()
}

function KeyLine(props: {
  line: KeyLineFragment
  /** The id of the key that took its place; null while none has. */
  replacedBy: string | null
  /** The ids of those whose place it took. */
  replaces: readonly string[]
  /** Of the keys in the list, by id. */
  prefixes: ReadonlyMap<string, string>
  onRotate: () => void
}) {
  const { line, replacedBy, replaces, prefixes, onRotate } = props
  const client = useClient()
  const { busy, failure, submit } = useSubmit()
  const [asked, setAsked] = useState(false)
  const { id, name, prefix, role, sessionId, createdAt, expiresAt, lastUsedAt, revokedAt } = line
  const now = useNow()
  const ended = revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= now)
  // Keys that follow one another have one name: what tells their buttons apart is the prefix.
  const prefixId = `${domIdOf(line)}-prefix`
  const shown = (other: string) =>
    prefixes.has(other) ? <code>{prefixes.get(other)}…</code> : 'a key that is not in this list'
  return (
    <li id={domIdOf(line)} tabIndex={-1} className={classes.line} data-ended={ended || undefined}>
      <div className={classes.what}>
        <div>
          <bdi className={classes.name}>{name}</bdi>{' '}
          <span className={classes.role}>{role.toLowerCase()}</span>
        </div>
        <Facts>
          <code id={prefixId}>{prefix}…</code>
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
                {ended ? 'ended' : replacedBy ? 'works until' : 'ends'} <Moment at={expiresAt} />
              </span>
            )
          )}
          {replacedBy && <span>replaced by {shown(replacedBy)}</span>}
          {replaces.map((each) => (
            <span key={each}>replaces {shown(each)}</span>
          ))}
          {sessionId && (
            <span>
              bound to <Link to={`/sessions/${sessionId}`}>a session</Link>
            </span>
          )}
        </Facts>
      </div>
      {!ended && (
        <Group gap="xs">
          {!replacedBy && (
            <Button
              size="sm"
              variant="default"
              aria-haspopup="dialog"
              aria-label={`Rotate ${name}`}
              aria-describedby={prefixId}
              onClick={onRotate}
            >
              Rotate
            </Button>
          )}
          <Button
            size="sm"
            variant="default"
            aria-expanded={asked}
            aria-label={`Revoke ${name}`}
            aria-describedby={prefixId}
            onClick={() => setAsked(!asked)}
          >
            Revoke
          </Button>
        </Group>
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
