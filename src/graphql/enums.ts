import { enumOf } from './builder.ts'

export const SessionStatus = enumOf('SessionStatus', 'The state of a session.', {
  waiting: 'Nothing runs; it can be started or resumed.',
  running: 'The agent works.',
  needs_input:
    'A person is needed: the agent ended its turn, or is blocked on a request (see `needsInputReason`).',
  failed: 'It ended badly; `failureReason` says how.',
  archived: 'Put away.',
})

export const Runtime = enumOf('Runtime', 'What runs the agent.', {
  claude_code: null,
  codex: null,
  other: null,
})

export const LostReason = enumOf('LostReason', 'How the latest request of a session was lost.', {
  expired: 'Nobody answered in time; the MCP server was told so and the agent went on without approval.',
  stranded: 'The round trip never completed: the agent or its MCP server went away.',
})

export const NeedsInputReason = enumOf('NeedsInputReason', 'Why a session needs a person.', {
  turn_ended: "The agent's turn ended.",
  elicitation: 'A request waits for an answer.',
})

export const ElicitationStatus = enumOf(
  'ElicitationStatus',
  'What a request has come to. A final status never changes.',
  {
    pending: 'It waits for an answer.',
    accept: null,
    decline: 'A person said no.',
    cancel: 'It ended without an answer: dismissed, withdrawn, or with its session.',
    expired: 'The clock answered instead of a person.',
  },
)

export const ElicitationAction = enumOf('ElicitationAction', 'What a person can do with a request.', {
  accept: 'Yes, with content where the form asks for some.',
  decline: 'No.',
  cancel: 'Dismiss it without answering.',
})

export const Cause = enumOf('Cause', 'How a request ended.', {
  answered: null,
  dismissed: null,
  expired: null,
  session_ended: 'The session or its process ended, or moved on.',
  withdrawn: 'The requester took it back.',
})

export const Mode = enumOf('Mode', 'What a request asks for.', {
  form: 'An answer to a form.',
  url: 'Something that has to be done at a URL.',
})

export const Listening = enumOf('Listening', 'Whether the MCP server waits for the answer right now.', {
  listening: 'It polls.',
  silent: 'It polled and has stopped: an answer may reach nobody.',
  not_yet: 'It has not polled so far.',
})

export const TextFormat = enumOf('TextFormat', 'What a text has to look like.', {
  TEXT: null,
  EMAIL: null,
  URI: null,
  DATE: '2026-12-01',
  DATE_TIME: '2026-12-01T10:00:00Z',
})

export const Role = enumOf('Role', 'What a key may do.', {
  viewer: 'Look.',
  responder: 'Look, and answer.',
  launcher: 'Look, manage sessions and launch agents. Never answers.',
  operator: 'What a responder and a launcher may.',
  admin: 'Everything, keys included.',
})

export const GateAccess = enumOf('GateAccess', 'Which addresses of the gate agents are told and may use.', {
  open: 'The plain address is handed out and served.',
  mixed: 'Capability addresses are handed out; the plain one is served too.',
  capability: 'Only capability addresses are served.',
})

export const ConfigFormat = enumOf('ConfigFormat', 'The language of an MCP config.', {
  json: null,
  toml: null,
})

export const NeedsInputChangeKind = enumOf(
  'NeedsInputChangeKind',
  'What happened to a place in the attention queue.',
  {
    entered: null,
    left: null,
    updated: 'It is still there, and something about it changed.',
  },
)
