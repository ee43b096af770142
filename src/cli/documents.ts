/**
 * Every GraphQL document that the command line sends, with the shape of its data. A test checks them all against the schema.
 */

/** A refusal of a mutation: one of its errors instead of its success. */
type Result<Success> = {
  __typename: string
  message?: string
  fields?: { name: string; message: string }[]
} & Partial<Success>

const refusal = `... on UserError { message } ... on InvalidInputError { fields { name message } }`

export type SessionStatus = 'WAITING' | 'RUNNING' | 'NEEDS_INPUT' | 'FAILED' | 'ARCHIVED'
export type Runtime = 'CLAUDE_CODE' | 'CODEX' | 'OTHER'
export type Role = 'VIEWER' | 'RESPONDER' | 'LAUNCHER' | 'OPERATOR' | 'ADMIN'

export const viewerDocument = `query Viewer { viewer { name role sessionId } }`
export interface ViewerData {
  viewer: { name: string; role: Role; sessionId: string | null }
}

// Launching

export interface LaunchedSession {
  id: string
  slug: string
  title: string
  status: SessionStatus
  runtime: Runtime
  blockedOnElicitation: boolean
  process: {
    host: string
    pid: number | null
    alive: boolean
    startedAt: string | null
    endedAt: string | null
  } | null
}
const launchedSession = `id slug title status runtime blockedOnElicitation process { host pid alive startedAt endedAt }`

export const sessionDocument = `query Session($id: ID, $slug: String) { session(id: $id, slug: $slug) { ${launchedSession} } }`
export interface SessionData {
  session: LaunchedSession | null
}

export const eventCursorDocument = `query EventCursor { eventCursor }`
export interface EventCursorData {
  eventCursor: string
}

/** Where the gate is, and whether it is thought to work. */
export const launchSiteDocument = `query LaunchSite { gate { url access reachable hosts { host reachable } } }`
export interface LaunchSiteData {
  gate: {
    url: string
    access: 'OPEN' | 'MIXED' | 'CAPABILITY'
    reachable: boolean | null
    hosts: { host: string; reachable: boolean | null }[]
  }
}

export const createSessionDocument = `mutation CreateSession($input: CreateSessionInput!) {
  createSession(input: $input) { __typename ... on CreateSessionSuccess { session { ${launchedSession} } } ${refusal} } }`
export interface CreateSessionData {
  createSession: Result<{ session: LaunchedSession }>
}

export const resumeSessionDocument = `mutation ResumeSession($id: ID!) {
  resumeSession(id: $id) { __typename ... on ResumeSessionSuccess { session { ${launchedSession} } } ... on UserError { message } } }`
export interface ResumeSessionData {
  resumeSession: Result<{ session: LaunchedSession }>
}

export const failSessionDocument = `mutation FailSession($id: ID!, $reason: String!) {
  failSession(id: $id, reason: $reason) { __typename ... on FailSessionSuccess { session { id } } ${refusal} } }`
export interface FailSessionData {
  failSession: Result<{ session: { id: string } }>
}

export const prepareLaunchDocument = `mutation PrepareLaunch($input: PrepareLaunchInput!) {
  prepareLaunch(input: $input) { __typename
    ... on PrepareLaunchSuccess { env { name value } mcpConfig systemPrompt warnings agentKey } ${refusal} } }`
export interface PreparedLaunch {
  env: { name: string; value: string }[]
  mcpConfig: string | null
  systemPrompt: string | null
  warnings: string[]
  agentKey: string | null
}
export interface PrepareLaunchData {
  prepareLaunch: Result<PreparedLaunch>
}

export const registerProcessDocument = `mutation RegisterProcess($input: RegisterProcessInput!) {
  registerProcess(input: $input) { __typename ... on RegisterProcessSuccess { session { id } } ${refusal} } }`
export interface RegisterProcessData {
  registerProcess: Result<{ session: { id: string } }>
}

export interface SessionEvent {
  cursor: string
  type: string
  actor: { kind: string; name: string | null }
  data: Record<string, unknown>
}
const sessionEvent = `cursor type actor { kind name } data`

/** Brings the newest events along, so that a runner whose connections are cut by a proxy still learns of a pause. */
export const heartbeatDocument = `mutation Heartbeat($input: HeartbeatInput!, $after: String!) {
  heartbeat(input: $input) { __typename
    ... on HeartbeatSuccess { session { timeline(last: 20, after: $after) { edges { node { ${sessionEvent} } } } } } ${refusal} } }`
export interface HeartbeatData {
  heartbeat: Result<{ session: { timeline: { edges: { node: SessionEvent }[] } } }>
}

export const reportExitDocument = `mutation ReportExit($input: ReportExitInput!) {
  reportExit(input: $input) { __typename ... on ReportExitSuccess { session { status failureReason } } ${refusal} } }`
export interface ReportExitData {
  reportExit: Result<{ session: { status: SessionStatus; failureReason: string | null } }>
}

export const sessionEventsDocument = `subscription SessionEvents($id: ID!, $after: EventCursor) {
  session(id: $id, after: $after) { cursor event { ${sessionEvent} } } }`
export interface SessionEventsData {
  session: { cursor: string; event: SessionEvent }
}

// The queue

export interface FormField {
  __typename: 'TextField' | 'NumberField' | 'BooleanField' | 'SelectField' | 'MultiSelectField' | 'JsonField'
  name: string
  title: string
  description: string | null
  required: boolean
  format?: string
  integer?: boolean
  options?: { value: unknown; label: string }[]
}
export interface Form {
  confirmation: string | null
  anyFlatObject: boolean
  fields: FormField[]
}
export interface Elicitation {
  requestId: string
  status: 'PENDING' | 'ACCEPT' | 'DECLINE' | 'CANCEL' | 'EXPIRED'
  cause: string | null
  message: string
  summary: string
  toolName: string | null
  serverName: string | null
  context: string | null
  url: string | null
  expiresAt: string
  listening: 'LISTENING' | 'SILENT' | 'NOT_YET'
  deliveredAt: string | null
  respondedBy: { name: string; surface: string } | null
  note: string | null
  form: Form | null
  session: { id: string; slug: string; title: string }
}
const form = `form { confirmation anyFlatObject fields { __typename name title description required
  ... on TextField { format } ... on NumberField { integer } ... on SelectField { options { value label } }
  ... on MultiSelectField { options { value label } } } }`
const elicitation = `requestId status cause message summary toolName serverName context url expiresAt listening deliveredAt note
  respondedBy { name surface } ${form} session { id slug title }`

export const elicitationDocument = `query Elicitation($requestId: String!) { elicitation(requestId: $requestId) { ${elicitation} } }`
export interface ElicitationData {
  elicitation: Elicitation | null
}

export interface QueuedSession {
  id: string
  slug: string
  title: string
  needsInputReason: 'TURN_ENDED' | 'ELICITATION' | null
  needsInputSince: string | null
  lostElicitation: { reason: 'EXPIRED' | 'STRANDED'; summary: string | null } | null
  pendingElicitations: Elicitation[]
}
export const queueDocument = `query Queue($first: Int!) { eventCursor attentionQueue(first: $first) { totalCount edges { node {
  id slug title needsInputReason needsInputSince lostElicitation { reason summary } pendingElicitations { ${elicitation} } } } } }`
export interface QueueData {
  eventCursor: string
  attentionQueue: { totalCount: number; edges: { node: QueuedSession }[] }
}

export const answerDocument = `mutation Answer($input: RespondToElicitationInput!) {
  respondToElicitation(input: $input) { __typename
    ... on RespondToElicitationSuccess { elicitation { ${elicitation} } } ${refusal}
    ... on InvalidContentError { fields { name message } } } }`
export interface AnswerData {
  respondToElicitation: Result<{ elicitation: Elicitation }>
}

export const bannersDocument = `subscription Banners($sessionId: ID, $after: EventCursor) { banners(sessionId: $sessionId, after: $after) { __typename
  ... on ElicitationBannerRaised { cursor elicitation { ${elicitation} } }
  ... on ElicitationBannerRemoved { cursor elicitation { ${elicitation} } }
  ... on LostElicitationBannerRaised { cursor session { id slug title } lostElicitation { reason summary } }
  ... on LostElicitationBannerCleared { cursor session { id slug title } } } }`
export type Banner =
  | {
      __typename: 'ElicitationBannerRaised' | 'ElicitationBannerRemoved'
      cursor: string
      elicitation: Elicitation
    }
  | {
      __typename: 'LostElicitationBannerRaised'
      cursor: string
      session: { id: string; slug: string; title: string }
      lostElicitation: { reason: 'EXPIRED' | 'STRANDED'; summary: string | null }
    }
  | {
      __typename: 'LostElicitationBannerCleared'
      cursor: string
      session: { id: string; slug: string; title: string }
    }
export interface BannersData {
  banners: Banner
}

// Keys

export interface ApiKey {
  id: string
  name: string
  prefix: string
  role: Role
  sessionId: string | null
  createdAt: string
  expiresAt: string | null
  lastUsedAt: string | null
  revokedAt: string | null
}
const apiKey = `id name prefix role sessionId createdAt expiresAt lastUsedAt revokedAt`

export const keysDocument = `query Keys { apiKeys { ${apiKey} } }`
export interface KeysData {
  apiKeys: ApiKey[]
}

export const createKeyDocument = `mutation CreateKey($input: CreateApiKeyInput!) {
  createApiKey(input: $input) { __typename ... on CreateApiKeySuccess { secret apiKey { ${apiKey} } } ${refusal} } }`
export interface CreateKeyData {
  createApiKey: Result<{ secret: string; apiKey: ApiKey }>
}

export const rotateKeyDocument = `mutation RotateKey($id: ID!, $overlapMinutes: Int!) {
  rotateApiKey(id: $id, overlapMinutes: $overlapMinutes) { __typename
    ... on RotateApiKeySuccess { secret apiKey { ${apiKey} } replaced { ${apiKey} } } ${refusal} } }`
export interface RotateKeyData {
  rotateApiKey: Result<{ secret: string; apiKey: ApiKey; replaced: ApiKey }>
}

export const revokeKeyDocument = `mutation RevokeKey($id: ID!) {
  revokeApiKey(id: $id) { __typename ... on RevokeApiKeySuccess { apiKey { ${apiKey} } } ... on UserError { message } } }`
export interface RevokeKeyData {
  revokeApiKey: Result<{ apiKey: ApiKey }>
}
