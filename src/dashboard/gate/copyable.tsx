import { Button, Code, CopyButton } from '@mantine/core'
import classes from './gate.module.css'

/** Text to take along. Where the browser gives no clipboard (plain http), it can still be selected. */
export function Copyable({ label, text }: { label: string; text: string }) {
  return (
    <div className={classes.copyable}>
      <Code className={classes.code}>{text}</Code>
      <Copy label={label} text={text} />
    </div>
  )
}

export function Copy({ label, text }: { label: string; text: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button size="compact-sm" variant="default" onClick={copy} aria-label={`Copy ${label}`}>
          <span aria-live="polite">{copied ? 'Copied' : 'Copy'}</span>
        </Button>
      )}
    </CopyButton>
  )
}
