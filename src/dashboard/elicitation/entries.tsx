import { StrangerText } from '../text/stranger-text.tsx'
import classes from './banner.module.css'

export type Line = { term: string; text: string }

/** Names and what stands beside them. */
export function Entries({ label, lines }: { label: string; lines: Line[] }) {
  return (
    <dl className={classes.entries} aria-label={label}>
      {lines.map(({ term, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a fixed list, and two fields may have one title
        <div key={index} className={classes.pair}>
          <dt>
            <bdi>{term}</bdi>
          </dt>
          <dd>
            <StrangerText component="span" inherit>
              {text}
            </StrangerText>
          </dd>
        </div>
      ))}
    </dl>
  )
}
