import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AskError, type Outcome } from '../../src/mcp/asker.ts'
import { call, elicitation, playRelay } from './support/relay.ts'

type Id = number | string

/** What can happen between the two ends, each about one of a few ids, so that it is often about the same one. */
const event = fc.oneof(
  fc.record({ kind: fc.constant('call' as const), n: fc.nat(4) }),
  fc.record({ kind: fc.constant('question' as const), n: fc.nat(4) }),
  fc.record({
    kind: fc.constant('decide' as const),
    n: fc.nat(9),
    action: fc.constantFrom('accept', 'decline', 'cancel', 'expired', 'fail'),
  }),
  fc.record({ kind: fc.constant('server cancels' as const), n: fc.nat(4) }),
  fc.record({ kind: fc.constant('client cancels' as const), n: fc.nat(4) }),
  fc.record({ kind: fc.constant('input required' as const), n: fc.nat(4) }),
  fc.record({ kind: fc.constant('reply' as const), n: fc.nat(4) }),
  fc.record({ kind: fc.constant('other line' as const), n: fc.nat() }),
)

const ids: Id[] = [0, '0', 1, 'a', '']

it('answers each question of the server once, each call of the client at most once, and nobody else’s', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 60 }), async (events) => {
      const { relay, fromClient, fromServer, held, client, server } = playRelay()
      const openQuestions = new Set<Id>()
      /** By the client's id: the id that the server knows the call by. */
      const openCalls = new Map<Id, Id>()
      const asked = {
        questions: [] as Id[],
        cancelledByServer: [] as Id[],
        calls: [] as Id[],
        others: [] as string[],
      }
      const settle = () => new Promise((resolve) => setImmediate(resolve))
      const repeated = () => {
        // A call that the relay has sent again goes by its new id from here on.
        for (const line of server.slice(seen)) {
          const message = JSON.parse(line)
          if (message.method === 'tools/call' && message.params.inputResponses)
            openCalls.set(message.params.arguments.own, message.id)
        }
        seen = server.length
      }
      let seen = 0

      for (const each of events) {
        const id = 'n' in each ? ids[each.n % ids.length]! : 0
        if (each.kind === 'call' && !openCalls.has(id)) {
          openCalls.set(id, id)
          asked.calls.push(id)
          fromClient(call(id, { arguments: { own: id } }))
        } else if (each.kind === 'question' && !openQuestions.has(id)) {
          openQuestions.add(id)
          asked.questions.push(id)
          fromServer(elicitation(id))
        } else if (each.kind === 'decide') {
          const question = held[each.n % Math.max(1, held.length)]
          if (each.action === 'fail') question?.fail(new AskError('UNREACHABLE', 'gone'))
          else question?.answer({ action: each.action as Outcome['action'] })
        } else if (each.kind === 'server cancels' && openQuestions.has(id)) {
          await settle()
          if (server.some((line) => isAnswer(line, id, asked.questions))) continue
          openQuestions.delete(id)
          asked.cancelledByServer.push(id)
          fromServer({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
        } else if (each.kind === 'client cancels' && openCalls.has(id)) {
          openCalls.delete(id)
          fromClient({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
        } else if (each.kind === 'input required' && openCalls.has(id)) {
          fromServer({
            jsonrpc: '2.0',
            id: openCalls.get(id),
            result: {
              resultType: 'input_required',
              inputRequests: { q: { method: 'elicitation/create', params: { message: 'Go?' } } },
            },
          })
        } else if (each.kind === 'reply' && openCalls.has(id)) {
          fromServer({ jsonrpc: '2.0', id: openCalls.get(id), result: { done: id } })
        } else if (each.kind === 'other line') {
          const line = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x', params: { n: each.n } })
          asked.others.push(line)
          fromServer(line)
        }
        await settle()
        repeated()
        for (const line of client) {
          const message = JSON.parse(line)
          if (message.id !== undefined) openCalls.delete(message.id)
        }
        for (const line of server) {
          const message = JSON.parse(line)
          if (message.method === undefined) openQuestions.delete(message.id)
        }
      }
      for (const question of held) question.answer({ action: 'decline' })
      await expect.poll(() => relay.holds, { interval: 1 }).toBe(0)

      const answers = server.map((line) => JSON.parse(line)).filter(({ method }) => method === undefined)
      const expected = asked.questions.length - asked.cancelledByServer.length
      expect(answers).toHaveLength(expected)
      for (const answer of answers) {
        expect(ids).toContainEqual(answer.id)
        expect(answer.result ? ['accept', 'decline', 'cancel'] : [-32603]).toContain(
          answer.result?.action ?? answer.error.code,
        )
      }
      const replies = client.map((line) => JSON.parse(line)).filter(({ id }) => id !== undefined)
      expect(replies.length).toBeLessThanOrEqual(asked.calls.length)
      for (const reply of replies) expect(ids).toContainEqual(reply.id)
      expect(client.filter((line) => line.includes('notifications/x'))).toEqual(asked.others)
    }),
    { numRuns: 150 },
  )
})

/** Whether the latest question of this id has been answered already. */
function isAnswer(line: string, id: Id, questions: Id[]): boolean {
  const message = JSON.parse(line)
  return message.method === undefined && message.id === id && questions.includes(id)
}
