import { Alert, Button, Mark, Text } from '@mantine/core'
import { useMemo } from 'react'
import classes from './banner.module.css'
import { readTargetAddress } from './target-address.ts'

/**
 * The page that a URL request wants opened: the whole address, the host stressed, everything odd said in words. Nothing is
 * fetched before the person opens it, and the page that opens learns nothing of this one.
 */
export function Target({ url }: { url: string }) {
  const address = useMemo(() => readTargetAddress(url), [url])
  if (!address) {
    return (
      <Alert color="red" title="This address cannot be opened">
        <Text size="sm" dir="ltr" className={classes.address}>
          {url}
        </Text>
      </Alert>
    )
  }
  const { before, host, after, unicodeHost, href, warnings } = address
  return (
    <>
      <div className={classes.address} dir="ltr">
        {before}
        <Mark className={classes.host}>{host}</Mark>
        {after}
        {unicodeHost && <div>reads as {unicodeHost}</div>}
      </div>
      {warnings.length > 0 && (
        <Alert color="orange" variant="light" p="xs" title="Look twice before you open it">
          {warnings.map((warning) => (
            <Text key={warning} size="sm" mt={4}>
              {warning}
            </Text>
          ))}
        </Alert>
      )}
      <Button
        component="a"
        href={href}
        target="_blank"
        rel="noopener noreferrer"
        referrerPolicy="no-referrer"
        variant="default"
        size="md"
        h="auto"
        mih={44}
        py={12}
        w="fit-content"
        styles={{ label: { whiteSpace: 'normal', overflowWrap: 'anywhere' } }}
      >
        Open {host} in a new tab
      </Button>
      <Text size="sm" c="dimmed">
        Finish there, then come back and press Done.
      </Text>
    </>
  )
}
