import type { Elicitation, FormField } from './documents.ts'
import { fromNow, quotedLine, quotedLines } from './terminal.ts'

/** A request in one line. */
export function requestLine({ requestId, summary, session, expiresAt }: Elicitation): string {
  return `${requestId}  ${quotedLine(session.title)}: ${quotedLine(summary)} (expires ${fromNow(expiresAt)})`
}

/** A request with all that a person needs to answer it. Whatever the MCP server wrote stands behind a bar. */
export function requestText(request: Elicitation, { whole = false } = {}): string[] {
  const { requestId, session, toolName, serverName, message, context, url, expiresAt, listening } = request
  const lines = [
    `${requestId}`,
    `  session  ${quotedLine(session.title)} (${session.slug})`,
    `  asks     ${serverName === null ? 'an MCP server of this session' : `the MCP server ${quotedLine(serverName)}`}${toolName === null ? '' : `, tool ${quotedLine(toolName)}`}`,
    ...quotedLines(message, whole ? {} : { linesMax: 12 }),
  ]
  if (context !== null) lines.push('  context', ...quotedLines(context, whole ? {} : { linesMax: 6 }))
  if (url !== null) lines.push(`  url      ${quotedLine(url)}`)
  lines.push(...formLines(request))
  if (request.status === 'PENDING')
    lines.push(`  expires  ${fromNow(expiresAt)}; ${listeningText[listening]}`)
  else lines.push(`  ended    ${endText(request)}`)
  return lines
}

const listeningText: Record<Elicitation['listening'], string> = {
  LISTENING: 'its server is waiting for the answer',
  SILENT: 'its server has stopped asking: an answer may reach nobody',
  NOT_YET: 'its server has not asked for the answer yet',
}

/** How a request ended, for a person. */
export function endText({ status, cause, respondedBy, note, deliveredAt, listening }: Elicitation): string {
  const how: Record<Elicitation['status'], string> = {
    PENDING: 'pending',
    ACCEPT: 'accepted',
    DECLINE: 'declined',
    CANCEL:
      cause === 'DISMISSED'
        ? 'dismissed'
        : cause === 'WITHDRAWN'
          ? 'withdrawn by its server'
          : 'cancelled with its session',
    EXPIRED: 'expired, nobody answered',
  }
  const who = respondedBy === null ? '' : ` by ${quotedLine(respondedBy.name)} (${respondedBy.surface})`
  const said = note === null ? '' : `, note: ${quotedLine(note)}`
  const delivery =
    deliveredAt !== null
      ? '; delivered'
      : respondedBy === null
        ? ''
        : listening === 'LISTENING'
          ? '; not collected yet'
          : '; nobody was waiting for it'
  return `${how[status]}${who}${said}${delivery}`
}

function formLines({ form }: Elicitation): string[] {
  if (form === null || (form.fields.length === 0 && !form.anyFlatObject)) return []
  if (form.confirmation !== null) return ['  form     a confirmation: accept is the yes, decline the no']
  return [
    ...(form.fields.length > 0 ? ['  form'] : []),
    ...form.fields.flatMap((field) => [
      `    ${quotedLine(field.name)}${field.required ? '' : ' (optional)'}: ${kindOf(field)}${titleOf(field)}`,
    ]),
    ...(form.anyFlatObject ? ['  form     any names with text, numbers, true, false or lists of texts'] : []),
  ]
}

function titleOf({ name, title, description }: FormField): string {
  const texts = [title === name ? null : title, description].filter((text) => text !== null)
  return texts.length === 0 ? '' : `  │ ${texts.map(quotedLine).join(' · ')}`
}

function kindOf({ __typename, format, integer, options = [] }: FormField): string {
  const values = options.map(({ value, label }) => {
    const written = typeof value === 'string' ? value : JSON.stringify(value)
    return quotedLine(written === label ? written : `${written} (${label})`)
  })
  switch (__typename) {
    case 'TextField':
      return format === undefined || format === 'TEXT' ? 'text' : format.toLowerCase().replace('_', '-')
    case 'NumberField':
      return integer ? 'whole number' : 'number'
    case 'BooleanField':
      return 'true or false'
    case 'SelectField':
      return `one of ${values.join(', ')}`
    case 'MultiSelectField':
      return values.length > 0 ? `any of ${values.join(', ')}` : 'any texts'
    case 'JsonField':
      return 'JSON'
  }
}
