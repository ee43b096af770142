import { Anchor, Button, Textarea } from '@mantine/core'
import { useState } from 'react'
import { noteCharactersMax } from '../../base/limits.ts'
import type { ElicitationAction } from '../generated/graphql.ts'
import classes from './banner.module.css'

/** The three answers, and room for a word with any of them. */
export function Actions(props: {
  acceptLabel: 'Accept' | 'Done'
  /** Which answer is on its way. */
  sending: ElicitationAction | null
  dead: boolean
  note: string
  onNote: (note: string) => void
  onAnswer: (action: ElicitationAction) => void
}) {
  const { acceptLabel, sending, dead, note, onNote, onAnswer } = props
  const [noteOpen, setNoteOpen] = useState(note !== '')
  const withNote = note.trim() === '' ? '' : ' with note'
  // Not `disabled`: that would drop the focus of whoever got here by keyboard, and the press is refused all the same.
  const button = (action: ElicitationAction) =>
    ({
      'data-answer': true,
      'aria-disabled': dead || sending !== null || undefined,
      'aria-busy': sending === action || undefined,
      type: 'button',
      size: 'md',
      onClick: () => onAnswer(action),
    }) as const
  return (
    <>
      {noteOpen && (
        <Textarea
          label="Note (optional)"
          description="Why not, or what instead. Goes with your answer."
          autosize
          minRows={1}
          maxRows={4}
          maxLength={noteCharactersMax}
          value={note}
          onChange={(event) => onNote(event.currentTarget.value)}
        />
      )}
      <div className={classes.buttons}>
        <Button {...button('ACCEPT')}>{`${acceptLabel}${withNote}`}</Button>
        <Button {...button('DECLINE')} variant="default">
          {`Decline${withNote}`}
        </Button>
        <Button {...button('CANCEL')} variant="default">
          {`Dismiss${withNote}`}
        </Button>
        {!noteOpen && (
          <Anchor
            component="button"
            type="button"
            size="sm"
            className={classes.note}
            onClick={() => setNoteOpen(true)}
          >
            Add a note
          </Anchor>
        )}
      </div>
    </>
  )
}
