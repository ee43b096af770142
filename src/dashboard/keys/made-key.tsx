import { Alert, Button, Stack, Text } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { Copyable } from '../gate/copyable.tsx'

/** A key that was just made. Its secret is on the page until somebody has it, and then nowhere any more. */
export function MadeKey(props: {
  name: string
  secret: string
  /** Whether the focus goes to it: where the control that made it is gone. */
  takesFocus?: boolean
  onTaken: () => void
  children?: ReactNode
}) {
  const { name, secret, takesFocus = false, onTaken, children } = props
  const note = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (takesFocus) note.current!.focus()
  }, [takesFocus])
  return (
    <Alert
      ref={note}
      color="green"
      variant="light"
      my="sm"
      title={`Key for ${name}`}
      role="status"
      tabIndex={takesFocus ? -1 : undefined}
    >
      <Stack gap="xs">
        <Copyable label="the key" text={secret} />
        <Text size="sm">Copy it now: it is not shown again. {children}</Text>
        <Button variant="default" size="sm" w="max-content" onClick={onTaken}>
          I have it
        </Button>
      </Stack>
    </Alert>
  )
}
