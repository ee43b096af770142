import { bombs, bytesOf, damaged, mutated, oddNames, oddValue, print } from './documents.ts'
import type { Random } from './random.ts'

/** What an attacker may know of a server, so that the inputs get past the first question. */
export interface World {
  host: string
  sessions: { id: string; slug: string }[]
  /** For commands that would end a session which others are needed in. */
  victim: string
  /** Paths of capability addresses. */
  addresses: string[]
  requestIds: string[]
  /** By role, with `bound` for one that is an agent's. */
  keys: Record<string, string>
}

/** What goes over the wire for one input. */
export interface Input {
  kind: string
  /** Written one after the other, with a turn of the loop between them. */
  pieces: Buffer[]
  /** For each answer that must come, whether it has no body. Empty: the caller waits a moment for any, and leaves. */
  answers: { withoutBody: boolean }[]
}

interface Request {
  method: string
  path: string
  headers: [string, string][]
  body: Buffer | null
}

type Make = (world: World, random: Random) => Request

const json: [string, string] = ['Content-Type', 'application/json']

function keyOf(world: World, random: Random): [string, string][] {
  const kind = random.int(20)
  if (kind === 0) return []
  if (kind === 1)
    return [
      ['X-API-Key', random.pick(['wrong', 'hp_', `hp_${'x'.repeat(8)}_`, 'x'.repeat(2_000), '\xff\xfe'])],
    ]
  if (kind === 2)
    return [['Authorization', random.pick(['Bearer', 'Bearer  ', 'Basic eDp5', `Bearer ${'y'.repeat(600)}`])]]
  if (kind === 3)
    return [
      [
        'Cookie',
        random.pick(['holdpoint=abc.def', 'holdpoint=%', 'holdpoint=s%3Ax.y', '__proto__=1; holdpoint', '=']),
      ],
    ]
  const key = kind < 12 ? world.keys.admin! : random.pick(Object.values(world.keys))
  return [random.chance(0.5) ? ['X-API-Key', key] : ['Authorization', `Bearer ${key}`]]
}

const collectionOf = (world: World, random: Random) =>
  random.chance(0.7)
    ? '/api/v1/elicitations'
    : random.pick([...world.addresses, `/api/v1/gate/${'x'.repeat(32)}/elicitations`])

/** A segment of a path that is not what it looks like. */
function oddSegment(random: Random): string {
  return random.pick([
    '%2F..%2F..%2Fetc%2Fpasswd',
    '..%2f..%2fpackage.json',
    '%2e%2e',
    '..',
    '.',
    '%00',
    'a%00b',
    '%',
    '%zz',
    '%e0%80%af',
    '%ff%fe',
    '%ud800',
    'a%0d%0aSet-Cookie:%20x=1',
    'x'.repeat(201),
    'x'.repeat(301),
    'x'.repeat(8_000),
    '\\..\\..',
    ';a=b',
    '*',
    '#',
    ...oddNames.map(encodeURIComponent),
    encodeURIComponent(random.bytes(12).toString('latin1')),
  ])
}

const requestIdOf = (world: World, random: Random) =>
  random.chance(0.5)
    ? random.pick(world.requestIds)
    : random.chance(0.3)
      ? `unknown-${random.int(1e6)}`
      : oddSegment(random)

const schemas = [
  { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] },
  {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 20, pattern: '^[a-z]+$', default: 'a' },
      count: { type: 'integer', minimum: 1, maximum: 9 },
      plan: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
      tags: { type: 'array', items: { type: 'string', enum: ['x', 'y'] }, minItems: 1 },
      mail: { type: 'string', format: 'email' },
      at: { type: 'string', format: 'date-time' },
    },
    required: ['name'],
  },
]

const create: Make = (world, random) => {
  const session = random.pick(world.sessions)
  const document = {
    mode: random.chance(0.8) ? 'form' : 'url',
    message: 'Delete the tenant acme?',
    requestedSchema: random.pick(schemas),
    url: 'https://example.test/x',
    elicitationId: 'e1',
    _meta: {
      'com.pulsemcp/request-id': `fuzz-${random.int(2 ** 30)}-${random.int(2 ** 30)}`,
      'com.pulsemcp/session-id': random.chance(0.8) ? session.id : session.slug,
      'com.pulsemcp/tool-name': 'delete_tenant',
      'com.pulsemcp/context': 'in production',
      'com.pulsemcp/expires-at': '2026-12-24T10:00:00Z',
    },
  }
  return {
    method: 'POST',
    path: collectionOf(world, random),
    headers: [json],
    body: bytesOf(print(random.chance(0.05) ? document : mutated(document, random)), random),
  }
}

const bomb: Make = (world, random) => {
  const request = create(world, random)
  const document = {
    message: 'Which one?',
    requestedSchema: {
      type: 'object',
      properties: {
        [random.pick(oddNames)]: {
          type: 'string',
          pattern: random.pick(bombs),
          default: `${'a'.repeat(80)}!`,
        },
      },
    },
    _meta: {
      'com.pulsemcp/request-id': `bomb-${random.int(2 ** 30)}-${random.int(2 ** 30)}`,
      'com.pulsemcp/session-id': random.pick(world.sessions).id,
    },
  }
  return { ...request, body: Buffer.from(print(document)) }
}

const poll: Make = (world, random) => ({
  method: random.pick(['GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'PUT']),
  path: `${collectionOf(world, random)}/${requestIdOf(world, random)}${random.pick(['', '?wait=0', '?wait=-1', '?wait=1e9', '?wait=NaN', '?wait=0&wait=0', '?wait[]=0', '?__proto__[a]=1', '?%', '?wait=%00'])}`,
  headers: [],
  body: null,
})

const withdraw: Make = (world, random) => ({
  method: 'DELETE',
  path: `${collectionOf(world, random)}/${requestIdOf(world, random)}`,
  headers: [
    ...keyOf(world, random),
    ['Holdpoint-Withdraw', random.pick(['', 'x', 'y'.repeat(43), '\xe4\xf6', '%00'])],
  ],
  body: random.chance(0.3) ? bytesOf(print(oddValue(random)), random) : null,
})

const respond: Make = (world, random) => {
  const document = {
    action_type: random.pick(['accept', 'accept', 'decline', 'cancel']),
    content: { confirm: true, name: `${'a'.repeat(60)}!`, count: 3, tags: ['x'] },
    note: 'no',
  }
  return {
    method: 'PATCH',
    path: `/api/v1/elicitations/${requestIdOf(world, random)}/respond`,
    headers: [json, ...keyOf(world, random)],
    body: bytesOf(print(mutated(document, random)), random),
  }
}

const signIn: Make = (world, random) => ({
  method: 'POST',
  path: random.pick(['/api/v1/sign-in', '/api/v1/sign-in', '/api/v1/sign-out']),
  headers: [
    json,
    ...(random.chance(0.5) ? [['Sec-Fetch-Site', 'same-origin'] as [string, string]] : []),
    ...keyOf(world, random),
  ],
  body: bytesOf(
    print(mutated({ key: random.pick(['wrong', world.keys.viewer]), link: 'x' }, random)),
    random,
  ),
})

const documents: [string, (world: World) => object][] = [
  [
    'query($id: ID, $slug: String) { session(id: $id, slug: $slug) { id title pendingElicitations { id form { fields { name } } } timeline(first: 5) { edges { node { type data } } } } }',
    ({ sessions: [session] }) => ({ id: session!.id, slug: null }),
  ],
  [
    'query($first: Int, $after: String, $last: Int, $before: String, $status: [SessionStatus!]) { sessions(first: $first, after: $after, last: $last, before: $before, status: $status) { totalCount edges { cursor node { slug status } } pageInfo { endCursor hasNextPage } } }',
    () => ({ first: 5, after: null, status: ['RUNNING'] }),
  ],
  [
    'query($r: String, $id: ID) { elicitation(requestId: $r, id: $id) { id message meta requestedSchema content form { fields { __typename name } confirmation } } }',
    ({ requestIds }) => ({ r: requestIds[0], id: null }),
  ],
  [
    'query($s: ID, $t: String, $a: String) { elicitations(sessionId: $s, toolName: $t, first: 3, after: $a) { totalCount edges { node { requestId listening } } } }',
    ({ victim }) => ({ s: victim, t: 'delete_tenant', a: null }),
  ],
  [
    '{ viewer { name role } gate { url hosts { host } } eventCursor attentionQueue(first: 2) { edges { node { id } } } }',
    () => ({}),
  ],
  [
    'query($t: String, $a: String, $s: DateTime, $after: String, $n: Int) { auditLog(first: $n, after: $after, type: $t, actor: $a, since: $s) { totalCount edges { node { type data } } } }',
    () => ({ t: 'key', a: 'admin', s: '2026-01-01T00:00:00Z', after: null, n: 2 }),
  ],
  ['{ apiKeys { id name prefix role } __schema { types { name fields { name } } } }', () => ({})],
  [
    'mutation($input: CreateSessionInput!) { createSession(input: $input) { __typename ... on UserError { message } } }',
    () => ({
      input: {
        title: 'by the fuzzer',
        slug: null,
        runtime: 'CODEX',
        workingDirectory: '/x',
        metadata: { a: [1] },
        start: true,
      },
    }),
  ],
  [
    'mutation($input: RespondToElicitationInput!) { respondToElicitation(input: $input) { __typename ... on UserError { message } } }',
    ({ requestIds }) => ({
      input: {
        requestId: requestIds[1],
        action: 'ACCEPT',
        content: { name: 'b', confirm: false },
        note: 'x',
      },
    }),
  ],
  [
    'mutation($input: [RespondToElicitationInput!]!) { respondToElicitations(input: $input) { __typename ... on UserError { message } } }',
    ({ requestIds }) => ({
      input: [
        { requestId: requestIds[2], action: 'DECLINE' },
        { id: 'x', action: 'CANCEL' },
      ],
    }),
  ],
  [
    'mutation($id: ID!, $reason: String!) { failSession(id: $id, reason: $reason) { __typename } startSession(id: $id) { __typename } archiveSession(id: $id) { __typename } unarchiveSession(id: $id) { __typename } }',
    ({ victim }) => ({ id: victim, reason: 'x' }),
  ],
  [
    'mutation($input: PrepareLaunchInput!) { prepareLaunch(input: $input) { __typename ... on PrepareLaunchSuccess { mcpConfig warnings } ... on UserError { message } } }',
    ({ victim }) => ({
      input: {
        sessionId: victim,
        runtime: 'CODEX',
        mcpConfig: { format: 'TOML', text: '[mcp_servers.a]\ncommand = "x"\n' },
        dotenv: 'A=1',
      },
    }),
  ],
  [
    'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { __typename ... on UserError { message } } }',
    ({ victim }) => ({
      input: { name: 'fuzz', role: 'VIEWER', expiresAt: '2027-01-01T00:00:00Z', sessionId: victim },
    }),
  ],
  [
    'mutation($input: RegisterProcessInput!) { registerProcess(input: $input) { __typename } }',
    ({ victim }) => ({
      input: { sessionId: victim, host: 'h', pid: 1, startedAt: '2026-01-01T00:00:00Z', command: 'x' },
    }),
  ],
  [
    'mutation($input: HeartbeatInput!) { heartbeat(input: $input) { __typename } }',
    ({ victim }) => ({
      input: { sessionId: victim, gate: { url: 'http://x', reachable: true, detail: 'x' } },
    }),
  ],
  [
    'mutation($input: ReportExitInput!) { reportExit(input: $input) { __typename } }',
    ({ victim }) => ({ input: { sessionId: victim, exitCode: 1, signal: 'SIGTERM' } }),
  ],
  [
    'mutation($id: ID!, $m: Int!) { rotateApiKey(id: $id, overlapMinutes: $m) { __typename ... on UserError { message } } }',
    ({ victim }) => ({ id: victim, m: 60 }),
  ],
  ['mutation($s: ID!) { rotateGateToken(sessionId: $s) { __typename } }', ({ victim }) => ({ s: victim })],
]

/** Documents that are large in a way of their own. */
function grown(random: Random): string {
  const many = random.pick([20, 60, 2_000])
  return random.pick([
    `{ ${Array.from({ length: many }, (_, i) => `a${i}: viewer { name }`).join(' ')} }`,
    `${'{ sessions { edges { node '.repeat(many)}{ id }${' } } }'.repeat(many)}`,
    `{ viewer ${'@include(if: true) '.repeat(many)} { name } }`,
    `{ ...a } ${Array.from({ length: many }, (_, i) => `fragment a${i} on Query { ...a${i + 1} }`).join(' ')}`,
    'fragment a on Query { ...b } fragment b on Query { ...a } { ...a }',
    `{ ${'['.repeat(many)}`,
    `query(${Array.from({ length: many }, (_, i) => `$v${i}: Int`).join(' ')}) { viewer { name } }`,
    `{ sessions(first: ${'9'.repeat(many)}) { totalCount } }`,
    `{ session(slug: """${'\\'.repeat(many)}""") { id } }`,
    `# ${'x'.repeat(many * 50)}\n{ viewer { name } }`,
    '{ __proto__ constructor { prototype } }',
    `{ ${'viewer { name } '.repeat(many)} }`,
  ])
}

const graphql: Make = (world, random) => {
  const [text, variablesOf] = random.pick(documents)
  const kind = random.int(10)
  const query =
    kind === 0 ? grown(random) : kind === 1 ? damaged(Buffer.from(text), random).toString('latin1') : text
  const variables = kind >= 4 ? mutated(variablesOf(world), random) : variablesOf(world)
  const one = { query, variables, operationName: null, extensions: {} }
  const document =
    kind === 2
      ? mutated(one, random)
      : kind === 3
        ? Array.from({ length: random.pick([1, 3, 11, 200]) }, () => one)
        : one
  const headers: [string, string][] = [
    [
      'Content-Type',
      random.chance(0.9)
        ? 'application/json'
        : random.pick([
            'application/graphql',
            'text/plain',
            'multipart/form-data; boundary=x',
            'application/x-www-form-urlencoded',
            'application/json; charset=utf-16',
            'x',
          ]),
    ],
    ...keyOf(world, random),
    ...(random.chance(0.1)
      ? [
          [
            'Accept',
            random.pick(['text/html', 'application/graphql-response+json', 'multipart/mixed', '*/*;q=x', '']),
          ] as [string, string],
        ]
      : []),
  ]
  if (random.chance(0.1))
    return {
      method: 'GET',
      path: `/graphql?query=${encodeURIComponent(query.toWellFormed())}&variables=${oddSegment(random)}`,
      headers: headers.slice(1),
      body: null,
    }
  return {
    method: 'POST',
    path: `/graphql${random.pick(['', '', '', '/', '?query=%7B', '/x'])}`,
    headers,
    body: bytesOf(print(document), random),
  }
}

const mcp: Make = (world, random) => {
  const call = {
    jsonrpc: '2.0',
    id: random.int(100),
    method: random.pick([
      'tools/call',
      'tools/call',
      'tools/call',
      'tools/list',
      'initialize',
      'ping',
      'notifications/cancelled',
    ]),
    params: {
      name: random.pick([
        'respond_to_elicitation',
        'list_pending_elicitations',
        'get_elicitation',
        'get_session',
      ]),
      arguments: {
        request_id: random.pick(world.requestIds),
        session_id: world.victim,
        action_type: 'accept',
        content: { confirm: true },
      },
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'f', version: '1' },
      requestId: 1,
    },
  }
  const document = random.chance(0.1)
    ? Array.from({ length: random.pick([0, 2, 21]) }, () => mutated(call, random))
    : mutated(call, random)
  return {
    method: random.pick(['POST', 'POST', 'POST', 'POST', 'GET', 'DELETE']),
    path: '/mcp',
    headers: [
      json,
      [
        'Accept',
        random.pick([
          'application/json, text/event-stream',
          'application/json, text/event-stream',
          'application/json',
          '',
        ]),
      ],
      ...keyOf(world, random),
      ...(random.chance(0.2)
        ? [['Mcp-Session-Id', random.pick(['', 'x', '\xff', 'y'.repeat(3_000)])] as [string, string]]
        : []),
    ],
    body: bytesOf(print(document), random),
  }
}

const people: Make = (world, random) => {
  const [method, path] = random.pick([
    [
      'GET',
      `/api/v1/notifications?state=${oddSegment(random)}&first=${random.pick(['0', '5', '1e9', '-1', 'x'])}&before=${oddSegment(random)}`,
    ],
    ['POST', `/api/v1/notifications/${oddSegment(random)}/resend`],
    ['GET', '/api/v1/push/public-key'],
    ['POST', '/api/v1/push/subscriptions'],
    ['DELETE', '/api/v1/push/subscriptions'],
    ['POST', '/api/v1/push/test'],
  ] as const)
  const document = {
    endpoint: 'https://push.invalid/x',
    keys: { p256dh: 'B'.repeat(87), auth: 'A'.repeat(22) },
    expirationTime: null,
  }
  return {
    method,
    path,
    headers: [json, ...keyOf(world, random)],
    body: method === 'GET' ? null : bytesOf(print(mutated(document, random)), random),
  }
}

const hook: Make = (world, random) => {
  const document = {
    hook_event_name: 'Elicitation',
    mcp_server_name: 'tenants',
    mode: 'form',
    message: 'Delete it?',
    requested_schema: random.pick(schemas),
  }
  return {
    method: 'POST',
    path: '/api/v1/hooks/claude-code',
    headers: [
      json,
      ...(random.chance(0.8) ? [['X-API-Key', world.keys.bound!] as [string, string]] : keyOf(world, random)),
    ],
    body: bytesOf(print(mutated(document, random)), random),
  }
}

const stream: Make = (world, random) => ({
  method: 'POST',
  path: '/graphql',
  headers: [json, ['Accept', 'text/event-stream'], ...keyOf(world, random)],
  body: bytesOf(
    print(
      mutated(
        {
          query: random.pick([
            'subscription($after: EventCursor, $s: ID) { timeline(sessionId: $s, after: $after) { cursor type } }',
            'subscription($after: EventCursor) { needsInput(after: $after) { cursor queueSize } }',
            'subscription($after: EventCursor, $s: ID) { banners(sessionId: $s, after: $after) { __typename } }',
          ]),
          variables: { after: random.pick(['0', '999999999', null]), s: world.victim },
        },
        random,
      ),
    ),
    random,
  ),
})

const pages: Make = (_world, random) => ({
  method: random.pick(['GET', 'GET', 'HEAD', 'POST', 'OPTIONS', 'TRACE', 'PROPFIND', 'PATCH']),
  path: `/${random.pick(['', 'assets/', 'assets/../', 'sessions/', 'api/', 'api/v1/', 'api/v1/gate/', 'livez/', 'metrics', 'graphql/', '/', '//evil.test/'])}${oddSegment(random)}${random.pick(['', '/', '?', '?a=%', `?${'a&'.repeat(500)}`])}`,
  headers: [
    ['Accept', random.pick(['text/html', '*/*', 'application/json', ''])],
    ['Range', random.pick(['bytes=0-1', 'bytes=-', 'bytes=9-1,x', 'x'])],
  ],
  body: null,
})

const makers: [string, number, Make][] = [
  ['create', 22, create],
  ['pattern', 2, bomb],
  ['poll', 12, poll],
  ['withdraw', 5, withdraw],
  ['respond', 16, respond],
  ['sign-in', 4, signIn],
  ['graphql', 20, graphql],
  ['mcp', 7, mcp],
  ['people', 4, people],
  ['pages', 8, pages],
  ['hook', 2, hook],
  ['stream', 2, stream],
]
/** These are held open when they are understood, so that their caller leaves. */
const held = new Set(['hook', 'stream'])
const weighed = makers.flatMap(([kind, weight, make]) => Array<[string, Make]>(weight).fill([kind, make]))

/** A header that has been used against servers before, or is none. */
function oddHeader(random: Random): [string, string] {
  return random.pick([
    [
      'Host',
      random.pick([
        '',
        'evil.test',
        '127.0.0.1:1',
        '[::1',
        'localhost@evil.test',
        'a'.repeat(500),
        '0x7f.1',
        '127.0.0.1\t',
      ]),
    ],
    ['Origin', random.pick(['null', 'https://evil.test', 'http://127.0.0.1', '\xff', 'x'])],
    [
      'Content-Type',
      random.pick([
        'application/json; charset=utf-7',
        'text/plain',
        'application/xml',
        ';',
        'application/json, text/plain',
        'multipart/form-data',
        'application/JSON ; a="',
      ]),
    ],
    ['X-Forwarded-Host', 'evil.test'],
    ['X-Forwarded-Proto', 'javascript'],
    ['X-Forwarded-For', random.pick(['', ',,,', '127.0.0.1, ::1', 'not an address', '9'.repeat(300)])],
    ['X-HTTP-Method-Override', 'DELETE'],
    ['Content-Encoding', random.pick(['gzip', 'br', 'x'])],
    ['Accept-Encoding', 'gzip;q=x, *'],
    ['Expect', random.pick(['100-continue', '100-continue', 'x'])],
    ['Connection', random.pick(['close', 'Upgrade', 'keep-alive, x'])],
    ['Upgrade', random.pick(['websocket', 'h2c', 'x'])],
    ['If-None-Match', '"\xff"'],
    ['Cookie', Array.from({ length: 300 }, (_, i) => `c${i}=1`).join('; ')],
    ['X-Padding', 'p'.repeat(random.pick([100, 7_000, 20_000]))],
    ['__proto__', 'x'],
    ['constructor', 'x'],
  ])
}

function written({ method, path, headers, body }: Request, world: World, random: Random): Buffer {
  const address = `10.${random.int(256)}.${random.int(256)}.${random.int(256)}`
  const all: [string, string][] = [['Host', world.host], ['X-Forwarded-For', address], ...headers]
  if (random.chance(0.1)) {
    const odd = oddHeader(random)
    const at = all.findIndex(([name]) => name === odd[0])
    if (at >= 0 && random.chance(0.7)) all[at] = odd
    else all.push(odd)
  }
  const chunked = body !== null && random.chance(0.05)
  if (chunked) all.push(['Transfer-Encoding', 'chunked'])
  else if (body !== null) all.push(['Content-Length', String(body.length)])
  // What is a line's end or no byte would make this another request than is meant; such heads are made by damage.
  const clean = (text: string) => text.replace(/[\r\n\0]/g, '')
  const head = `${method} ${clean(path).replace(/ /g, '%20')} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${clean(value)}\r\n`).join('')}\r\n`
  const tail = chunked
    ? Buffer.concat([
        Buffer.from(`${body.length.toString(16)}\r\n`),
        body,
        Buffer.from(body.length > 0 ? '\r\n0\r\n\r\n' : '\r\n'),
      ])
    : (body ?? Buffer.alloc(0))
  return Buffer.concat([Buffer.from(head, 'latin1'), tail])
}

function cut(bytes: Buffer, random: Random): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + random.int(Math.ceil(bytes.length / 6))
    pieces.push(bytes.subarray(at, end))
    at = end
  }
  return pieces
}

/** The input that a stream of random numbers makes. */
export function makeInput(world: World, random: Random): Input {
  const one = () => {
    const [kind, make] = random.pick(weighed)
    const request = make(world, random)
    return { kind, withoutBody: request.method === 'HEAD', bytes: written(request, world, random) }
  }
  const first = one()
  if (held.has(first.kind)) return { kind: first.kind, pieces: [first.bytes], answers: [] }
  switch (random.int(25)) {
    case 0: {
      const more = [first, ...Array.from({ length: 1 + random.int(4) }, one)].filter(
        ({ kind }) => !held.has(kind),
      )
      return {
        kind: `pipelined ${more.map(({ kind }) => kind).join(' ')}`,
        pieces: [Buffer.concat(more.map(({ bytes }) => bytes))],
        answers: more,
      }
    }
    case 1:
      return { kind: `slow ${first.kind}`, pieces: cut(first.bytes, random), answers: [first] }
    case 2:
      return {
        kind: `left ${first.kind}`,
        pieces: [first.bytes.subarray(0, random.int(first.bytes.length + 1))],
        answers: [],
      }
    case 3:
      return { kind: `damaged ${first.kind}`, pieces: [damaged(first.bytes, random)], answers: [] }
    default:
      return { kind: first.kind, pieces: [first.bytes], answers: [first] }
  }
}
