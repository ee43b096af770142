/** What is known of the gate for one session, from the fresh report of its own host or else from the server's probe. */
export interface GateKnowledge {
  status: 'healthy' | 'unknown' | 'unreachable'
  /** The collection URL that was probed. */
  url: string
  /** From `probe`; null when nothing has been probed. */
  detail: string | null
  checkedAt: Date | null
  /** The host that the probe ran on; null for the server itself. */
  host: string | null
}

/** Long enough for an address or a transport error, short enough to stay one line of a prompt. */
const quotedCharactersMax = 300

/**
 * What an agent's system prompt has to say about the gate, or null when there is nothing to say.
 * Sessions with MCP servers are told what a redacted or empty value means; a broken gate is told to every session.
 */
export function systemPrompt({
  gate,
  hasMcpServers,
}: {
  gate: GateKnowledge
  hasMcpServers: boolean
}): string | null {
  if (gate.status === 'unreachable') return brokenGate(gate)
  return hasMcpServers ? workingGate : null
}

const workingGate = `# Approval gate

Some tools of your MCP servers ask a person for approval before they act. Such a call stays open until the person has answered, which can take an hour: let it run, and do not repeat it.

When such a tool gives you a redacted or an empty value, or says that it was not approved, that is the gate's answer: a person denied it, or nobody answered in time. Report that, and go on only with what does not need the value. Do not try to get the value or the effect in another way: not with another tool, not from files, logs or the environment, and not by asking again in other words.`

function brokenGate(gate: GateKnowledge): string {
  const from = gate.host === null ? 'the Holdpoint server' : quoted(gate.host)
  const when = gate.checkedAt === null ? '' : ` at ${gate.checkedAt.toISOString()}`
  const why = gate.detail === null ? '' : ` (${quoted(gate.detail)})`
  return `# Approval gate: broken

Some tools ask a person for approval through an approval gate before they act. That gate is broken at present: ${quoted(gate.url)} could not be reached${why}, checked from ${from}${when}. Nobody is being asked.

A redacted or an empty value, or a call that was not approved, therefore says nothing about what is allowed: it is a failure, not a decision. When you meet one, report this failure with the address above and stop. Do not route around the gate: do not try to get the value or the effect in another way.`
}

/** One line of plain text: a host name or an error text must not be able to add paragraphs to a system prompt. */
function quoted(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return line.length > quotedCharactersMax ? `${line.slice(0, quotedCharactersMax - 1)}…` : line
}
