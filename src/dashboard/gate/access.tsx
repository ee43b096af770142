import { Stack, Text, Title } from '@mantine/core'
import type { GateQuery } from '../generated/graphql.ts'
import pageClasses from '../pages/page.module.css'
import { accessMeans, accessNames, nextStep } from './access-text.ts'
import classes from './gate.module.css'

const steps = ['OPEN', 'MIXED', 'CAPABILITY'] as const

/** Who may ask, and how far it is to an address that nobody else can use. */
export function Access({
  access,
  sessionsOnPlainAddress,
}: Pick<GateQuery['gate'], 'access' | 'sessionsOnPlainAddress'>) {
  return (
    <section aria-labelledby="access">
      <Title order={2} id="access" className={pageClasses.sectionTitle}>
        Who can ask
      </Title>
      <Stack gap="xs" className={pageClasses.panel}>
        <ol className={classes.steps}>
          {steps.map((step) => (
            <li key={step} aria-current={step === access ? 'step' : undefined}>
              {accessNames[step]}
            </li>
          ))}
        </ol>
        <Text size="sm">{accessMeans[access]}</Text>
        <Text size="sm">{nextStep(access, sessionsOnPlainAddress)}</Text>
        <Text size="sm" c="dimmed">
          A session counts by its latest request; one that has not asked yet is not counted.
        </Text>
      </Stack>
    </section>
  )
}
