import { Button, Code, CopyButton } from '@mantine/core'
import classes from './gate.module.css'

/** Text to take along. Where the browser gives no clipboard (plain http), it can still be selected. */
export function Copyable({ label, text, block = false }: { label: string; text: string; block?: boolean }) {
  return (
    <div className={classes.copyable} data-block={block || undefined}>
      <Code
        block={block}
        className={classes.code}
        tabIndex={block ? 0 : undefined}
        {...(block && { role: 'group', 'aria-label': label })}
      >
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="compact-sm" variant="default" onClick={copy} aria-label={`Copy ${label}`}>
            <span aria-live="polite">{copied ? 'Copied' : 'Copy'}</span>
          </Button>
        )}
      </CopyButton>
    </div>
  )
}
