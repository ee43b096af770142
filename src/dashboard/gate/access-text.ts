import type { GateAccess } from '../generated/graphql.ts'

export const accessNames: Record<GateAccess, string> = {
  OPEN: 'Open',
  MIXED: 'Mixed',
  CAPABILITY: 'Capability',
}

/** What each setting of HOLDPOINT_GATE_ACCESS means for whoever asks. */
export const accessMeans: Record<GateAccess, string> = {
  OPEN: 'Every agent asks on one plain address. Whoever reaches this server and knows a session’s id can ask in its name.',
  MIXED: 'Agents that are launched now get addresses of their own. The plain address is still served.',
  CAPABILITY: 'Requests are taken only on addresses of their own, one for each session and server.',
}

/** Who is still on the plain address, and what to do next on the way from open to capability. */
export function nextStep(access: GateAccess, onPlainAddress: number): string {
  const sessions = onPlainAddress === 1 ? '1 running session' : `${onPlainAddress} running sessions`
  const agents = onPlainAddress === 1 ? 'its agent' : 'their agents'
  switch (access) {
    case 'OPEN':
      return `${onPlainAddress === 0 ? 'No running session asks' : `${sessions} ${asks(onPlainAddress)}`} on the plain address. To begin closing it, set HOLDPOINT_GATE_ACCESS to mixed and restart: agents that run already go on as before.`
    case 'MIXED':
      return onPlainAddress === 0
        ? 'No running session asks on the plain address any more. Nothing is lost by setting HOLDPOINT_GATE_ACCESS to capability and restarting.'
        : `${sessions} still ${asks(onPlainAddress)} on the plain address. Launch ${agents} again; when none is left, set HOLDPOINT_GATE_ACCESS to capability.`
    case 'CAPABILITY':
      return onPlainAddress === 0
        ? 'No running session asks on the plain address any more.'
        : `${sessions} last asked on the plain address, where the next request will be refused. Launch ${agents} again.`
  }
}

const asks = (count: number) => (count === 1 ? 'asks' : 'ask')
