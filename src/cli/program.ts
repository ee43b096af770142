import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Argument, Command, Option } from 'commander'
import type { AnswerOptions } from './answer.ts'
import type { BridgeOptions } from './bridge.ts'
import { type ActionWord, actions, parseRuntime, roles } from './choices.ts'
import type { CreateKeyOptions } from './keys.ts'
import type { PrepareOptions } from './prepare.ts'
import type { RunOptions } from './run.ts'
import type { Terminal } from './terminal.ts'
import type { WatchOptions } from './watch.ts'

const surroundings = `
Which server, and with which key:
  HOLDPOINT_URL       the server; without it the one on this machine
  HOLDPOINT_API_KEY   a key; without it the launcher key of the server on this machine, which launches but never answers
  HOLDPOINT_DATA_DIR  where that server keeps its data, if not beside the program

Exit codes:
  0 done   1 refused, or it failed   64 wrong use   69 the server cannot be reached   77 no key, a wrong one, or one that may not`

const json = () => new Option('--json', 'print JSON, for scripts')
const session = (what: string) => new Option('--session <id>', what)
const runtime = () => new Option('--runtime <name>', 'claude-code, codex or other').argParser(parseRuntime)

export interface Process {
  /** The environment itself, for the server that `serve` becomes. */
  processEnvironment: NodeJS.ProcessEnv
  exit(code: number): void
}

/**
 * All commands. Each says what it does, with examples, by `--help`. What a command needs is loaded when it is given: the
 * bridge and the hooks are started over and over, and need little of it.
 */
export function createProgram(terminal: Terminal, { processEnvironment, exit }: Process): Command {
  const program = new Command('holdpoint')
    .description('The hold point for AI agents: an MCP server asks, a person answers, the agent carries on.')
    .version(versionOf(join(import.meta.dirname, '..', '..', 'package.json')))
    .enablePositionalOptions()
    .exitOverride()
    .addHelpText('after', surroundings)
  const add = addingTo(program)

  add('serve', 'run the server', '  holdpoint serve\n  PORT=8080 holdpoint serve').action(async () => {
    const { serve } = await import('./serve.ts')
    await serve(processEnvironment)
  })

  add(
    'run',
    'run an agent: its requests reach a person, and whoever pauses its session ends it',
    `  holdpoint run -- claude -p "clean up the staging tenants"
  holdpoint run --title "Nightly" --mcp-config mcp.json -- claude
  holdpoint run --approve-tools -- claude -p "release it"
  holdpoint run --session clean-up-x7k2p9 -- codex exec resume --last
  holdpoint run --mcp-config mcp.json -- my-agent --config {mcp-config}

The agent is started with the gate in its environment and, where its runtime takes one, with a private copy of its MCP config;
nothing in the project is changed. Claude Code and Codex are known; to another runtime hand the copy with {mcp-config}, and
what its model should know with {system-prompt}. Claude Code is also given the Elicitation hook: what any MCP server asks it natively goes to
a person. The folder's .env counts for the agent, and wins over the gate's variables.

Ctrl-C and an exit with 0 pause the session; any other end fails it. Pause, fail or archive the session from anywhere, and the agent
is ended with all that it started: SIGTERM, then SIGKILL after 10 s. A request that waits for an answer ends nothing, nor does
a server that is away.

An agent that runs as the user of the Holdpoint server could get at the server's files. Nothing here keeps it from that: see
SECURITY.md.

Exit codes: those of the command, with 128 + n for signal n, 126 and 127 when it could not be started; before that 1, 64, 69 and 77.`,
  )
    .argument('<command...>', 'what to run, best behind "--"')
    .passThroughOptions()
    .option('--title <text>', 'what people see of the session')
    .addOption(runtime())
    .option('--mcp-config <file>', 'the MCP config to use; for Codex a config.toml in the place of yours')
    .addOption(session('resume this session (its id or slug) instead of creating one'))
    .option(
      '--bridge',
      'put the bridge before each stdio MCP server, so that native elicitation reaches a person (with --mcp-config, but for Claude Code and Codex)',
    )
    .option(
      '--approve-tools',
      'let a person decide on what Claude Code asks permission for, and answer the questions it has',
    )
    .option('--with-agent-key', 'give the agent a key that sees its own session, and answers nothing')
    .action(async (command: string[], options: RunOptions) => {
      const { run } = await import('./run.ts')
      exit(await run(options, command, terminal))
    })

  add(
    'prepare',
    "write the gate into a folder's MCP config files, for an agent that is started without holdpoint",
    `  holdpoint prepare --session clean-up-x7k2p9
  holdpoint prepare --session clean-up-x7k2p9 --dry-run ~/project
  holdpoint prepare --undo ~/project`,
  )
    .argument('[folder]', 'the project, if not this folder')
    .addOption(session('the session (its id or slug)'))
    .addOption(runtime())
    .option(
      '--bridge',
      'put the bridge before each stdio MCP server, so that native elicitation reaches a person',
    )
    .option('--dry-run', 'show what would be changed, and write nothing')
    .option('--undo', 'put back what the files were before')
    .option('--force', 'with --undo: also where a file was changed since')
    .addOption(json())
    .action(async (folder: string | undefined, options: PrepareOptions) => {
      const { prepare } = await import('./prepare.ts')
      exit(await prepare(options, folder, terminal))
    })

  add(
    'env',
    'print the variables that an agent is started with',
    `  eval "$(holdpoint env --session clean-up-x7k2p9)"
  holdpoint env --session clean-up-x7k2p9 --json`,
  )
    .argument('[folder]', 'whose .env counts, if not this folder')
    .addOption(session('the session (its id or slug)').makeOptionMandatory())
    .addOption(json())
    .action(async (folder: string | undefined, options: { session: string; json?: boolean }) => {
      const { env } = await import('./env.ts')
      exit(await env(options, folder, terminal))
    })

  add(
    'pending',
    'show who needs a person: requests that wait, and sessions whose turn has ended',
    `  holdpoint pending
  holdpoint pending 3f0c…        one request, with its whole message`,
  )
    .argument('[request]', 'a request id')
    .addOption(json())
    .action(async (request: string | undefined, options: { json?: boolean }) => {
      const { pending } = await import('./pending.ts')
      exit(await pending(options, request, terminal))
    })

  add(
    'answer',
    'answer a request; needs a key of your own',
    `  holdpoint answer 3f0c… accept
  holdpoint answer 3f0c… accept --set environment=staging --set count=3
  holdpoint answer 3f0c… decline --note "not before the release"`,
  )
    .argument('<request>', 'the request id')
    .addArgument(new Argument('<action>', 'cancel dismisses it without an answer').choices(actions))
    .option('--content <json>', 'the values of the form, as a JSON object')
    .option(
      '--set <name=value>',
      'one value of the form; again for more',
      (word: string, words: string[] = []) => [...words, word],
    )
    .option('--note <text>', 'why not, or what instead')
    .addOption(json())
    .action(async (request: string, action: ActionWord, options: AnswerOptions) => {
      const { answer } = await import('./answer.ts')
      exit(await answer(options, request, action, terminal))
    })

  add('watch', 'show requests as they come and go', '  holdpoint watch\n  holdpoint watch --json | jq .')
    .addOption(session('of this session only (its id or slug)'))
    .addOption(new Option('--json', 'print one JSON object a line, for scripts'))
    .action(async (options: WatchOptions) => {
      const { watch } = await import('./watch.ts')
      exit(await watch(options, terminal))
    })

  add(
    'mcp',
    'the MCP server, on stdio: an agent asks its person, and whoever has a key of their own answers',
    `  {"mcpServers": {"holdpoint": {"command": "holdpoint", "args": ["mcp"], "alwaysLoad": true}}}
  claude -p --permission-prompt-tool mcp__holdpoint__approve_tool_use "…"

What an agent asks goes where the variables of its session say (holdpoint env prints them), or to HOLDPOINT_URL with a key that
is bound to the session.`,
  ).action(async () => {
    const { mcp } = await import('./mcp.ts')
    exit(await mcp(terminal))
  })

  add(
    'bridge',
    'stand before an MCP server, and answer its questions by asking a person',
    `  {"command": "holdpoint", "args": ["bridge", "--server", "tickets", "--", "node", "tickets.js"]}

It says that its client can be asked (form and url), whatever the client itself says, and passes everything else on as it is. Whom to
ask is said by the variables of the session (holdpoint env prints them), or by HOLDPOINT_URL with a key that is bound to the session.
When Holdpoint cannot be reached the server gets an error, and never a refusal.

Exit codes: those of the server, with 128 + n for signal n, 126 and 127 when it could not be started.`,
  )
    .argument('<command...>', 'the MCP server, best behind "--"')
    .passThroughOptions()
    .option('--server <name>', 'what people see as the server that asks, where its address does not say')
    .action(async (command: string[], options: BridgeOptions) => {
      const { bridge } = await import('./bridge.ts')
      exit(await bridge(options, command, terminal))
    })

  add(
    'hook',
    'a hook of an agent runtime: its JSON comes in on stdin, the decision goes out on stdout',
    `  {"hooks": {"Elicitation": [{"matcher": "", "hooks": [
    {"type": "command", "command": "holdpoint hook claude-code", "timeout": 3900}]}]}}

Exit codes: 0 with a decision, 1 without one. Nothing else, since Claude Code takes a 2 for a refusal.`,
  )
    .argument('[runtime]', 'claude-code')
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (runtime: string | undefined) => {
      const { hook } = await import('./hook.ts')
      exit(await hook(runtime, terminal))
    })

  const keys = add(
    'keys',
    'make, list, rotate and revoke API keys; needs an admin key of your own',
    '  holdpoint keys list',
  )
  const addKey = addingTo(keys)
  addKey('create', 'make a key and print it', '  holdpoint keys create phone --role responder --expires 90d')
    .argument('<name>', 'what it is called')
    .addOption(new Option('--role <role>', 'what it may do').choices(roles).makeOptionMandatory())
    .option('--expires <when>', 'after days (30d), hours (12h), or on a date')
    .addOption(session('bind it to a session (its id or slug): it sees that one only, and answers nothing'))
    .addOption(json())
    .action(async (name: string, options: CreateKeyOptions) => {
      const { createKey } = await import('./keys.ts')
      exit(await createKey(options, name, terminal))
    })
  addKey('list', 'list the keys', '  holdpoint keys list --json')
    .addOption(json())
    .action(async (options: { json?: boolean }) => {
      const { listKeys } = await import('./keys.ts')
      exit(await listKeys(options, terminal))
    })
  addKey(
    'rotate',
    "make the key that takes another one's place, and print it; the old one works until the overlap is over",
    `  holdpoint keys rotate 01980000-0000-7000-8000-000000000000
  holdpoint keys rotate 01980000-0000-7000-8000-000000000000 --overlap 7d`,
  )
    .argument('<id>', 'its id')
    .addOption(
      new Option(
        '--overlap <time>',
        'how long the old one works: 7d, 12h, 30m, or 0 to revoke it at once',
      ).default('24h'),
    )
    .addOption(json())
    .action(async (id: string, options: { overlap: string; json?: boolean }) => {
      const { rotateKey } = await import('./keys.ts')
      exit(await rotateKey(options, id, terminal))
    })
  addKey('revoke', 'revoke a key at once', '  holdpoint keys revoke 01980000-0000-7000-8000-000000000000')
    .argument('<id>', 'its id')
    .addOption(json())
    .action(async (id: string, options: { json?: boolean }) => {
      const { revokeKey } = await import('./keys.ts')
      exit(await revokeKey(options, id, terminal))
    })

  add(
    'doctor',
    'look at everything that has to work before an agent reaches a person',
    '  holdpoint doctor\n\nExit codes: 0 nothing is broken, 1 something is.',
  )
    .addOption(json())
    .action(async (options: { json?: boolean }) => {
      const { doctor } = await import('./doctor.ts')
      exit(await doctor(options, terminal))
    })

  return program
}

function addingTo(parent: Command) {
  return (name: string, description: string, examples: string) =>
    parent
      .command(name)
      .description(description)
      .exitOverride()
      .addHelpText('after', `\nExamples:\n${examples}`)
}

function versionOf(packageFile: string): string {
  return JSON.parse(readFileSync(packageFile, 'utf8')).version
}
