/**
 * Everything that strangers can grow has a limit, and the limits stand here together.
 * Units and qualifiers are in the names.
 */
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

/** Pending requests in one session: from one caller's address on the plain address, and from one capability address. */
export const elicitationsPendingPerAddressMax = 20
export const elicitationsPendingPerTokenMax = 100

export const noteCharactersMax = 2_000

/** A request on the open endpoints. */
export const bodyBytesMax = 256 * 1024
export const messageBytesMax = 16 * 1024
export const contextBytesMax = 4 * 1024
export const toolNameCharactersMax = 200
export const urlCharactersMax = 4_096

/** Polls held open: for one request, from one address. The limit of a process is configured. */
export const heldPollsPerRequestMax = 4
export const heldPollsPerAddressMax = 64
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

/** Requests a minute. Polls of a known request are never limited. */
export const creationsPerAddressMax = 60
export const creationsPerSessionMax = 30
export const unknownPollsPerAddressMax = 120
export const signInsPerAddressMax = 10

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
