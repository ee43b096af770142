import { describe, expect, it } from 'vitest'
import { nextStep } from '../../src/dashboard/gate/access-text.ts'

describe('the way from the plain address to addresses of their own', () => {
  it.each([
    ['OPEN', 3, ['3 running sessions ask on the plain address', 'HOLDPOINT_GATE_ACCESS to mixed']],
    ['OPEN', 0, ['No running session asks', 'HOLDPOINT_GATE_ACCESS to mixed']],
    ['MIXED', 1, ['1 running session still asks on the plain address', 'Launch its agent again']],
    ['MIXED', 2, ['2 running sessions still ask', 'Launch their agents again']],
    ['MIXED', 0, ['No running session asks', 'Nothing is lost', 'HOLDPOINT_GATE_ACCESS to capability']],
    ['CAPABILITY', 2, ['2 running sessions last asked', 'will be refused', 'Launch their agents again']],
    ['CAPABILITY', 0, ['No running session asks on the plain address any more.']],
  ] as const)('at %s with %i sessions on the plain one says what to do next', (access, count, words) => {
    for (const word of words) expect(nextStep(access, count)).toContain(word)
  })

  it('urges nobody to close the plain address while somebody asks there', () => {
    expect(nextStep('MIXED', 1)).not.toContain('Nothing is lost')
  })
})
