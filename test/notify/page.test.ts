import { expect, it } from 'vitest'
import { createPager } from '../../src/notify/page.ts'
import { answer, startReceiver } from './support/receiver.ts'

const page = {
  type: 'gate.unreachable',
  text: 'Agents cannot reach the gate. password=hunter2',
  url: 'http://gate.example/api/v1/elicitations',
  detail: 'connection refused (ECONNREFUSED)',
  checkedAt: new Date('2026-03-01T12:00:00Z'),
}

it('pages with a text that chat tools show, and the facts beside it', async () => {
  await using receiver = await startReceiver()
  expect(await createPager({ url: `${receiver.url}/hook` })(page)).toBe(true)
  expect(receiver.received).toHaveLength(1)
  expect(receiver.received[0]!.headers['content-type']).toBe('application/json')
  expect(receiver.received[0]!.json()).toEqual({
    text: 'Agents cannot reach the gate. password=[redacted]',
    type: 'gate.unreachable',
    url: 'http://gate.example/api/v1/elicitations',
    detail: 'connection refused (ECONNREFUSED)',
    checkedAt: '2026-03-01T12:00:00.000Z',
  })
})

it('says so when there is nobody to page', async () => {
  expect(await createPager({ url: null })(page)).toBe(false)
})

it('tries again, and says so when it cannot be delivered', async () => {
  await using receiver = await startReceiver()
  const send = createPager({ url: receiver.url, retryAfterMs: 1 })
  receiver.behave(answer(500, 'down'))
  await expect(send(page)).rejects.toThrow('HOLDPOINT_ALERT_WEBHOOK_URL: HTTP 500: down')
  expect(receiver.received).toHaveLength(3)
  let count = 0
  receiver.behave((response) => response.writeHead(++count === 2 ? 200 : 500).end())
  expect(await send(page)).toBe(true)
  expect(receiver.received).toHaveLength(5)
})
