import { Alert, Button, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useClient } from 'urql'
import { type KeyLineFragment, RotateKeyDocument, type RotateKeyMutation } from '../generated/graphql.ts'
import { useSubmit } from '../server/submit.ts'
import { useNow } from '../text/clock.ts'
import { Moment } from '../text/moment.tsx'
import { useViewer } from '../viewer/viewer.tsx'
import classes from './keys.module.css'
import { overlapDefaultMinutes, overlaps } from './overlap.ts'

export type Rotated = Extract<RotateKeyMutation['outcome'], { __typename: 'RotateApiKeySuccess' }>

/**
 * Asks for how long the old key goes on working, and rotates it. It is open for as long as it is on the page, and closes with
 * the browser's own means: the focus is then where it was before.
 */
export function RotateDialog(props: {
  line: KeyLineFragment
  /** Of the key that somebody else rotated it into meanwhile: the server knows that one by its id only. */
  successorPrefix: string | null
  onRotated: (rotated: Rotated) => void
  onClosed: () => void
}) {
  const { line, successorPrefix, onRotated, onClosed } = props
  const { id, name, role, sessionId, createdAt, expiresAt } = line
  const client = useClient()
  const viewer = useViewer()
  const { busy, failure, problems, submit } = useSubmit()
  const [minutes, setMinutes] = useState(overlapDefaultMinutes)
  const now = useNow()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current!.showModal(), [])

  // Nothing tells which key somebody is signed in with, only what it is called. To end that one at once would sign them out
  // before they have seen the new one, so it is not offered; a namesake can be revoked afterwards.
  const isOwn = viewer.name === name && viewer.role === role && sessionId === null
  const refusal = failure ?? problems.get('id')

  async function rotate() {
    const success = await submit(() =>
      client.mutation(RotateKeyDocument, { id, overlapMinutes: minutes }).toPromise(),
    )
    if (success?.__typename !== 'RotateApiKeySuccess') return
    // First, as nothing outside of an open dialog can have the focus.
    dialog.current?.close()
    onRotated(success)
  }

  return (
    <dialog
      ref={dialog}
      className={classes.dialog}
      aria-labelledby="rotate-title"
      aria-describedby="rotate-means"
      onCancel={(event) => {
        // What the server says to it must not be missed.
        if (busy) event.preventDefault()
      }}
      onClose={onClosed}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void rotate()
        }}
      >
        <Stack gap="sm">
          <Title order={2} id="rotate-title" className={classes.dialogTitle}>
            Rotate <bdi>{name}</bdi>?
          </Title>
          <Text size="sm" id="rotate-means">
            A new key is made, with the same name and role ({role.toLowerCase()})
            {sessionId && ' and for the same session'}, and shown once.{' '}
            {expiresAt && (
              <>
                It lasts as long as this one was made for: until{' '}
                <Moment at={momentOf(now + Date.parse(expiresAt) - Date.parse(createdAt))} />.
              </>
            )}
          </Text>
          <NativeSelect
            label="The old key works for"
            description={<OldKeyEnds {...{ minutes, now, expiresAt }} />}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            value={minutes}
            onChange={(event) => setMinutes(Number(event.currentTarget.value))}
            error={problems.get('overlapMinutes')}
          >
            {overlaps
              .filter((overlap) => overlap.minutes > 0 || !isOwn)
              .map((overlap) => (
                <option key={overlap.minutes} value={overlap.minutes}>
                  {overlap.text}
                </option>
              ))}
          </NativeSelect>
          {isOwn && (
            <Text size="sm">
              You seem to be signed in with this key: sign in with the new one before the old one ends.
            </Text>
          )}
          {refusal && (
            <Alert
              color="red"
              variant="light"
              role="alert"
              title={failure ? 'Not known whether it was rotated' : 'Not rotated'}
            >
              {refusal}
              {successorPrefix !== null && (
                <>
                  {' '}
                  The successor is <code>{successorPrefix}…</code> in the list
                  {failure ? ': if nobody else made it, its secret is lost, so rotate that one.' : '.'}
                </>
              )}
            </Alert>
          )}
          <Group gap="xs">
            <Button type="submit" size="md" aria-disabled={busy || undefined}>
              {busy ? 'Rotating…' : 'Rotate this key'}
            </Button>
            <Button
              variant="default"
              size="md"
              aria-disabled={busy || undefined}
              onClick={() => busy || dialog.current!.close()}
            >
              Keep it as it is
            </Button>
          </Group>
        </Stack>
      </form>
    </dialog>
  )
}

function OldKeyEnds(props: { minutes: number; now: number; expiresAt: string | null }) {
  const { minutes, now, expiresAt } = props
  if (minutes === 0)
    return 'The old key is revoked at once: whoever uses it is signed out, and it never works again.'
  const until = now + minutes * 60_000
  if (expiresAt !== null && Date.parse(expiresAt) <= until)
    return (
      <>
        Both work until <Moment at={expiresAt} />, when the old one ends anyway.
      </>
    )
  return (
    <>
      Both work until <Moment at={momentOf(until)} />. Then whoever still uses the old one is signed out.
    </>
  )
}

const momentOf = (ms: number) => new Date(ms).toISOString()
