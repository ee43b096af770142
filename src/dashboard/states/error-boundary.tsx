import { Alert, Anchor, Text } from '@mantine/core'
import { Component, type ReactNode } from 'react'

/** A page that breaks leaves the frame, and with it the way to the other pages. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false }

  static getDerivedStateFromError() {
    return { broken: true }
  }

  override render() {
    if (!this.state.broken) return this.props.children
    return (
      <Alert color="red" variant="light" title="This page broke" role="alert">
        <Text size="sm">
          Most often the server was updated under an open page: load it again. What you had entered is kept.
        </Text>
        <Anchor component="button" type="button" size="sm" onClick={() => location.reload()}>
          Load it again
        </Anchor>
      </Alert>
    )
  }
}
