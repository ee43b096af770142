import { Text, type TextProps } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './stranger-text.module.css'

/**
 * What somebody else wrote: text and nothing but text, in its own direction, its line breaks kept. Never markup, never a
 * link.
 */
export function StrangerText(
  props: TextProps & { component?: 'p' | 'span' | 'div'; 'data-tone'?: string; children: ReactNode },
) {
  const { component = 'p', className, children, ...text } = props
  return (
    <Text {...text} component={component} dir="auto" className={`${classes.stranger} ${className ?? ''}`}>
      {children}
    </Text>
  )
}
