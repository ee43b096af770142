import { Alert, Button, Code, Stack, Text, Title } from '@mantine/core'
import { useClient } from 'urql'
import { Access } from '../gate/access.tsx'
import { Copy, Copyable } from '../gate/copyable.tsx'
import classes from '../gate/gate.module.css'
import {
  claudeCodeSnippet,
  codexSnippet,
  type GateFacts,
  shellSnippet,
  spawnVariables,
} from '../gate/snippets.ts'
import { GateDocument, type GateQuery, ProbeGateDocument } from '../generated/graphql.ts'
import { useAddress } from '../routing/location.ts'
import { useLive } from '../server/live.tsx'
import { useSubmit } from '../server/submit.ts'
import { Standin } from '../states/failure.tsx'
import { Facts } from '../text/facts.tsx'
import { Ago, Moment } from '../text/moment.tsx'
import { useViewer } from '../viewer/viewer.tsx'
import pageClasses from './page.module.css'

type Gate = GateQuery['gate']

export function GatePage() {
  const live = useLive(
    GateDocument,
    {},
    {
      concerns: (event) => event.type.startsWith('gate.'),
      // A check that finds everything as before is no event.
      everyMs: 30_000,
    },
  )
  const sessionId = useAddress().searchParams.get('session')
  return (
    <Stack gap="xl">
      <Title order={1} mb={-12}>
        Gate
      </Title>
      {live.data ? (
        <>
          <State gate={live.data.gate} onChecked={live.refresh} />
          <Hosts hosts={live.data.gate.hosts} />
          <Access {...live.data.gate} />
          <Addresses gate={live.data.gate} sessionId={sessionId} />
        </>
      ) : (
        <Standin of={live} />
      )}
    </Stack>
  )
}

function State({ gate, onChecked }: { gate: Gate; onChecked: () => Promise<void> }) {
  const { may } = useViewer()
  const client = useClient()
  const { busy, failure, submit } = useSubmit()
  const { incident } = gate
  const open = incident && incident.closedAt === null
  return (
    <section aria-label="State of the gate" className={pageClasses.panel}>
      <Stack gap="xs">
        <div>
          <div className={classes.state} data-reachable={gate.reachable ?? undefined}>
            {gate.reachable === null ? 'Not known' : gate.reachable ? 'Reachable' : 'Unreachable'}
          </div>
          <Facts>
            <span>
              {gate.checkedAt ? (
                <>
                  checked <Ago at={gate.checkedAt} /> from the server
                </>
              ) : (
                'not checked from the server'
              )}
            </span>
            {gate.detail && <span>{gate.detail}</span>}
          </Facts>
        </div>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {gate.url}
        </Text>
        {incident && (
          <Alert
            color={open ? 'red' : 'gray'}
            variant="light"
            title={open ? 'Agents cannot ask anybody' : 'Latest incident, over'}
          >
            <Text size="sm">
              {incident.detail} Since <Moment at={incident.openedAt} />
              {incident.closedAt && (
                <>
                  , until <Moment at={incident.closedAt} />
                </>
              )}
              {incident.pagedAt ? '; somebody was paged.' : '; nobody was paged.'}
            </Text>
          </Alert>
        )}
        {may('launch') && (
          <div>
            <Button
              variant="default"
              aria-disabled={busy || undefined}
              onClick={() =>
                void submit(() => client.mutation(ProbeGateDocument, {}).toPromise()).then(onChecked)
              }
            >
              {busy ? 'Checking…' : 'Check now'}
            </Button>
          </div>
        )}
        {failure && (
          <Alert color="red" variant="light" role="alert">
            {failure}
          </Alert>
        )}
      </Stack>
    </section>
  )
}

function Hosts({ hosts }: { hosts: Gate['hosts'] }) {
  return (
    <section aria-labelledby="hosts">
      <Title order={2} id="hosts" className={pageClasses.sectionTitle}>
        From the agents’ hosts
      </Title>
      {hosts.length === 0 ? (
        <Text size="sm" c="dimmed">
          Not checked from the agents’ host: no runner has reported yet. <code>holdpoint run</code> reports
          from where it runs.
        </Text>
      ) : (
        <ul className={classes.hosts}>
          {hosts.map(({ host, reachable, detail, checkedAt }) => (
            <li key={host}>
              <bdi>{host}</bdi>:{' '}
              <span className={classes.state} data-reachable={reachable ?? undefined}>
                {reachable === null ? 'not known' : reachable ? 'reachable' : 'unreachable'}
              </span>{' '}
              <Text span size="sm" c="dimmed">
                {detail} <Ago at={checkedAt} />
              </Text>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Addresses({ gate, sessionId }: { gate: Gate; sessionId: string | null }) {
  const facts: GateFacts = { collectionUrl: gate.url, expirationMs: gate.expirationMs, sessionId }
  return (
    <>
      <section aria-labelledby="variables">
        <Title order={2} id="variables" className={pageClasses.sectionTitle}>
          What agents are told
        </Title>
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            <code>holdpoint run</code> and <code>holdpoint prepare</code> write these five variables for you.
            By hand: put them into the environment of the agent, and into the <code>env</code> table of each
            stdio MCP server.
          </Text>
          {gate.access !== 'OPEN' && (
            <Alert color="orange" variant="light">
              <Text size="sm">
                {gate.access === 'CAPABILITY'
                  ? 'The plain address below is refused: let holdpoint prepare write addresses of their own.'
                  : 'The plain address below is still served; holdpoint prepare writes addresses of their own.'}
              </Text>
            </Alert>
          )}
          <div className={pageClasses.panel}>
            <ul className={classes.variables}>
              {spawnVariables(facts).map(({ name, value }) => (
                <li key={name}>
                  <div className={classes.variable}>{name}</div>
                  <Copyable label={name} text={value} />
                </li>
              ))}
            </ul>
          </div>
        </Stack>
      </section>
      <Snippet id="shell" title="For a shell" text={shellSnippet(facts)} />
      <Snippet id="claude-code" title="Claude Code: .mcp.json" text={claudeCodeSnippet(facts)} />
      <Snippet id="codex" title="Codex: config.toml" text={codexSnippet(facts)} />
    </>
  )
}

function Snippet({ id, title, text }: { id: string; title: string; text: string }) {
  return (
    <section aria-labelledby={id}>
      <div className={classes.snippet}>
        <Title order={2} id={id}>
          {title}
        </Title>
        <Copy label={title} text={text} />
      </div>
      <Code block className={classes.block} tabIndex={0} role="group" aria-label={title}>
        {text}
      </Code>
    </section>
  )
}
