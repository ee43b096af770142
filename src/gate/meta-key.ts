/** The keys of `_meta` that the fallback protocol knows, and those that Holdpoint adds to it. */
export const metaKey = {
  requestId: 'com.pulsemcp/request-id',
  sessionId: 'com.pulsemcp/session-id',
  toolName: 'com.pulsemcp/tool-name',
  context: 'com.pulsemcp/context',
  expiresAt: 'com.pulsemcp/expires-at',
  pollUrl: 'com.pulsemcp/poll-url',
  respondedAt: 'com.pulsemcp/responded-at',
  note: 'holdpoint/note',
  withdraw: 'holdpoint/withdraw',
  serverName: 'holdpoint/server-name',
  serverInfo: 'holdpoint/server-info',
  call: 'holdpoint/call',
  toolUseId: 'holdpoint/tool-use-id',
} as const
