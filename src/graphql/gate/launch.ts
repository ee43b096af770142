import { z } from 'zod'
import { actorOf } from '../../auth/identity.ts'
import { InvalidInputError, InvalidTransitionError, NotFoundError } from '../../base/refusal.ts'
import type { PreparedLaunch } from '../../session/prepare-launch.ts'
import { builder } from '../builder.ts'
import { ConfigFormat, Runtime } from '../enums.ts'
import { done } from '../outcome.ts'
import { parseInput, text } from '../parse-input.ts'
import { sessionIdOf } from '../session/arguments.ts'

const configCharactersMax = 1024 * 1024
const dotenvCharactersMax = 1024 * 1024

const McpConfigInput = builder.inputType('McpConfigInput', {
  fields: (t) => ({
    format: t.field({ type: ConfigFormat, required: true }),
    text: t.string({ required: true }),
  }),
})

const HostGateInput = builder.inputType('HostGateInput', {
  fields: (t) => ({
    host: t.string({ required: true, description: 'The name of the machine.' }),
    url: t.string({ required: true, description: 'What was probed.' }),
    reachable: t.boolean({ required: true }),
    detail: t.string(),
  }),
})

const PrepareLaunchInput = builder.inputType('PrepareLaunchInput', {
  fields: (t) => ({
    sessionId: t.id({ required: true }),
    runtime: t.field({ type: Runtime, description: "The session's own when absent." }),
    mcpConfig: t.field({ type: McpConfigInput, description: "The runtime's MCP config, to be rewritten." }),
    dotenv: t.string({ description: "The text of the session's `.env`; its values win over ours." }),
    withAgentKey: t.boolean({
      defaultValue: false,
      description:
        'Also make a key for the agent: it sees this session only, answers nothing, and is revoked when the session is archived.',
    }),
    seen: t.field({
      type: HostGateInput,
      description:
        'What the gate looks like from the host that the agent will run on. It is recorded, and the system prompt goes by it.',
    }),
    dryRun: t.boolean({
      defaultValue: false,
      description:
        'Only show what would be written: no address, no key and no event is made, and an address shows `made-when-written` for its token.',
    }),
  }),
})

const prepareLaunchInput = z.object({
  sessionId: z.string(),
  runtime: z.enum(['claude_code', 'codex', 'other']).nullish(),
  mcpConfig: z.object({ format: z.enum(['json', 'toml']), text: text(configCharactersMax) }).nullish(),
  dotenv: text(dotenvCharactersMax).nullish(),
  withAgentKey: z.boolean().nullish(),
  seen: z
    .object({
      host: text(255).trim().min(1, 'Name the host.'),
      url: text(4_096),
      reachable: z.boolean(),
      detail: text(1_000).nullish(),
    })
    .nullish(),
  dryRun: z.boolean().nullish(),
})

const EnvironmentVariable = builder
  .objectRef<{ name: string; value: string }>('EnvironmentVariable')
  .implement({
    fields: (t) => ({ name: t.exposeString('name'), value: t.exposeString('value') }),
  })

const PrepareLaunchSuccess = builder.objectRef<PreparedLaunch>('PrepareLaunchSuccess').implement({
  description: 'What an agent is started with.',
  fields: (t) => ({
    env: t.expose('env', {
      type: [EnvironmentVariable],
      description: "For the agent's own process environment.",
    }),
    mcpConfig: t.exposeString('mcpConfig', {
      nullable: true,
      description:
        'The rewritten config; null when none was given. What cannot be parsed comes back as it was, with a warning.',
    }),
    systemPrompt: t.exposeString('systemPrompt', {
      nullable: true,
      description: "To be added to the agent's system prompt; null when there is nothing to say.",
    }),
    warnings: t.exposeStringList('warnings'),
    agentKey: t.exposeString('agentKey', {
      nullable: true,
      description: 'Only when asked for, and only this once.',
    }),
  }),
})

builder.mutationField('prepareLaunch', (t) =>
  t.field({
    type: PrepareLaunchSuccess,
    description: 'All that an agent has to be started with, in one call.',
    args: { input: t.arg({ type: PrepareLaunchInput, required: true }) },
    authScopes: { launch: true },
    errors: {
      types: [NotFoundError, InvalidTransitionError, InvalidInputError],
      directResult: true,
      result: { name: 'PrepareLaunchSuccess' },
    },
    resolve: async (_root, { input }, { services, identity }) => {
      const {
        sessionId,
        runtime = null,
        mcpConfig = null,
        dotenv = null,
        withAgentKey,
        seen,
        dryRun,
      } = parseInput(prepareLaunchInput, input)
      return done(
        await services.launch.prepare(
          {
            sessionId: sessionIdOf(sessionId, identity),
            runtime,
            mcpConfig,
            dotenv,
            withAgentKey: withAgentKey ?? false,
            seen: seen ? { ...seen, detail: seen.detail ?? null } : null,
            dryRun: dryRun ?? false,
          },
          actorOf(identity),
        ),
      )
    },
  }),
)
