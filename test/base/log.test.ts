import { expect, it } from 'vitest'
import { createLog } from '../../src/base/log.ts'

function logged(write: (log: ReturnType<typeof createLog>) => void): Record<string, unknown> {
  const lines: string[] = []
  write(createLog('info', { write: (line) => lines.push(line) }))
  expect(lines).toHaveLength(1)
  expect(lines[0]!.endsWith('}\n')).toBe(true)
  return JSON.parse(lines[0]!)
}

it('writes no secret, be it in the message, in an error, under a name or in a header', () => {
  const headers = {
    'x-api-key': 'a',
    cookie: 'b',
    authorization: 'c',
    'holdpoint-withdraw': 'd',
    host: 'h',
  }
  const line = logged((log) =>
    log.warn(
      {
        err: new Error('connect postgres://app:hunter2@db failed'),
        req: { headers },
        config: { webhookSecret: 'e', url: 'http://h/api/v1/gate/Zk3_x-9Zk3_x-9Zk3_x-9Zk3/elicitations' },
      },
      'a poll came with Bearer abc.def-1234',
    ),
  )
  expect(line).toMatchObject({
    level: 40,
    msg: 'a poll came with Bearer [redacted]',
    err: { type: 'Error', message: 'connect postgres://[redacted]@db failed' },
    req: {
      headers: {
        'x-api-key': '[redacted]',
        cookie: '[redacted]',
        authorization: '[redacted]',
        'holdpoint-withdraw': '[redacted]',
        host: 'h',
      },
    },
    config: { webhookSecret: '[redacted]', url: 'http://h/api/v1/gate/[redacted]/elicitations' },
  })
  expect(JSON.stringify(line)).not.toContain('hunter2')
})

it('also of a child, as the log of each request is', () => {
  const line = logged((log) => log.child({ reqId: 'r' }).info({ password: 'x' }, 'hello'))
  expect(line).toMatchObject({ reqId: 'r', password: '[redacted]', msg: 'hello' })
})

it('tells of an error what is worth reading, and nothing that a library has hung on it', () => {
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
  const error = Object.assign(new Error('lost', { cause }), { client: { statements: ['select 1'] } })
  const { err } = logged((log) => log.warn({ err: error }, 'a connection was lost'))
  expect(err).toMatchObject({
    type: 'Error',
    message: 'lost',
    stack: expect.stringContaining('log.test'),
    cause: { message: 'refused', code: 'ECONNREFUSED' },
  })
  expect(JSON.stringify(err)).not.toContain('select 1')
})
