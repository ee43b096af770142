/**
 * Everything that strangers can grow has a limit, and the limits stand here together.
 * Units and qualifiers are in the names.
 */

/**
 * The limits that an operator may set. The name makes the variable (`HOLDPOINT_LIMIT_…`), the code of the refusal
 * (`TOO_MANY_…`) and the label in `/metrics`. Rates are counted a minute in each server process, the rest at any moment.
 * A known request's poll is never refused: beyond `heldPollsPerAddress` it is answered at once.
 */
export const configurableLimits = {
  creationsPerAddress: {
    name: 'creations_per_address',
    default: 60,
    max: 100_000,
    counts: 'requests created in a minute from one address, on the plain address',
  },
  creationsPerSession: {
    name: 'creations_per_session',
    default: 30,
    max: 100_000,
    counts:
      'requests created in a minute for one session: by one capability address, one key, or one address on the plain address',
  },
  unknownPollsPerAddress: {
    name: 'unknown_polls_per_address',
    default: 120,
    max: 100_000,
    counts:
      'polls in a minute of requests that do not exist, and requests for sessions that do not, from one address',
  },
  signInsPerAddress: {
    name: 'sign_ins_per_address',
    default: 10,
    max: 100_000,
    counts: 'sign-ins tried in a minute from one address',
  },
  pendingPerAddress: {
    name: 'pending_per_address',
    default: 20,
    max: 1_000,
    counts: 'requests waiting in one session from one address, on the plain address',
  },
  pendingPerToken: {
    name: 'pending_per_token',
    default: 100,
    max: 1_000,
    counts: 'requests waiting in one session from one capability address',
  },
  heldPollsPerAddress: {
    name: 'held_polls_per_address',
    default: 64,
    max: 100_000,
    counts: 'polls held open for one address',
  },
} as const satisfies Record<string, { name: string; default: number; max: number; counts: string }>

export type Limit = keyof typeof configurableLimits
export type Limits = Record<Limit, number>

export const limitNames = Object.keys(configurableLimits) as Limit[]
export const defaultLimits = Object.fromEntries(
  limitNames.map((limit) => [limit, configurableLimits[limit].default]),
) as Limits

export function limitVariable(limit: Limit): string {
  return `HOLDPOINT_LIMIT_${configurableLimits[limit].name.toUpperCase()}`
}

/** What whoever passes the limit is told, as a stable code. */
export type LimitCode<L extends Limit = Limit> =
  `TOO_MANY_${Uppercase<(typeof configurableLimits)[L]['name']>}`

export function limitCode<L extends Limit>(limit: L): LimitCode<L> {
  return `TOO_MANY_${configurableLimits[limit].name.toUpperCase()}` as LimitCode<L>
}

/** requestedSchema as JSON, in UTF-8. */
export const schemaBytesMax = 64 * 1024
/** Properties, and the names that `required` adds to them. */
export const schemaPropertiesMax = 100
export const schemaOptionsPerFieldMax = 1_000
/** Levels of nesting; a form needs six, a nested object shown as JSON a few more. */
export const schemaDepthMax = 32

/** UTF-16 units of a pattern's source. */
export const patternLengthMax = 1_000
/** The estimate made from a pattern's source before it is compiled; `^.{1,1000}$` has 1,011. */
export const patternSizeMax = 2_000
export const patternSizePerFormMax = 8_000
/** Instructions times characters of one match: at some 35 ns a step this is 70 ms at worst. */
export const patternStepsMax = 2_000_000
/** The same for matching all the defaults of one form, which is done whenever a form is parsed. */
export const patternStepsForDefaultsMax = 500_000

/** The answer of one field that is shown as JSON. */
export const jsonAnswerBytesMax = 64 * 1024
export const jsonAnswerDepthMax = 32

/** Faults reported for one answer; a thousand unknown keys need not come back as a thousand sentences. */
export const answerProblemsMax = 100

/** Code points of an elicitation's summary, the ellipsis among them. */
export const summaryCharactersMax = 300

/** Deadlines, whoever names them, lie between these from now. */
export const elicitationDeadlineMinMs = 60_000
export const elicitationDeadlineMaxMs = 7 * 24 * 60 * 60_000

export const noteCharactersMax = 2_000

/** Names of keys and of the users that a proxy signs in. */
export const holderNameCharactersMax = 100
/** A key, made up or chosen; a longer one is none. Those that somebody chose, which only HOLDPOINT_ADMIN_KEY can be, have at least so many. */
export const keyCharactersMax = 500
export const chosenKeyCharactersMin = 16

/** A request on the open endpoints. */
export const bodyBytesMax = 256 * 1024
export const messageBytesMax = 16 * 1024
export const contextBytesMax = 4 * 1024
export const toolNameCharactersMax = 200
export const urlCharactersMax = 4_096

/** Polls held open for one request. Those of an address and of a process are configured. */
export const heldPollsPerRequestMax = 4
export const pollWaitSecondsMax = 60

/** Content of a delivered answer is not given out by polls any more after this. */
export const deliveredContentMs = 10 * 60_000

/** A request counts as listened to this long after its last poll ended. */
export const listeningMs = 30_000

/** A session's `.env`; a larger one is skipped whole: half of a file is not what anybody wrote. */
export const dotenvBytesMax = 1024 * 1024
/** A runtime's MCP config, in UTF-16 units; a larger one is left alone. Real files have kilobytes. */
export const runtimeConfigCharactersMax = 8 * 1024 * 1024
/** MCP servers in it: each gets some 400 characters of its own. */
export const runtimeConfigServersMax = 1_000

/** Levels of nesting in `_meta`. */
export const metaDepthMax = 64

/** Servers of one launch that get an address of their own, and that its timeline event names. */
export const mcpServersPerLaunchMax = 100

/** Code points of a request's message in a notification; the page shows all of it. */
export const noticeMessageCharactersMax = 150
/** Browsers that are notified for one key or user; those that subscribed longest ago are forgotten. */
export const pushSubscriptionsPerOwnerMax = 50
export const pushEndpointCharactersMax = 2_048
/** Of what a receiver of notifications answers, this much is read; and shown, in code points. */
export const receiverAnswerBytesMax = 1_024
export const receiverDetailCharactersMax = 300

/** A text that goes through the redactor, in UTF-16 units, and a value, in levels and parts; the rest is cut. */
export const redactedTextLengthMax = 64 * 1024
export const redactedDepthMax = 16
export const redactedPartsMax = 10_000

/** Requests of one key to the MCP endpoint that are open at a time, and messages in one of them. */
export const mcpRequestsPerKeyMax = 100
export const mcpBatchMax = 20
/** How long one call of a tool waits for a person at most; the agent may call again. */
export const toolWaitSecondsMax = 3_600

/** A line between an MCP client and its server that the bridge takes; the protocol sets no limit. */
export const bridgeLineBytesMax = 64 * 1024 * 1024
/** Requests that the bridge holds for one server at a time, and calls that it remembers. */
export const bridgeHoldsMax = 100
export const bridgeCallsMax = 1_000
