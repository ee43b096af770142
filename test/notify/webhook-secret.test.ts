import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'

const configured = (secret: string) => readConfig({ HOLDPOINT_WEBHOOK_SECRET: secret }, '/')

it.each([
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'MDEyMzQ1Njc4OWFiY2RlZg==',
])('takes the secret %s, as the library does', (secret) => {
  expect(configured(secret)).toMatchObject({ ok: true, config: { webhookSecret: secret } })
  expect(() => new Webhook(secret)).not.toThrow()
})

it.each([
  'c2VjcmV0',
  'whsec_',
  'my own secret, quite long',
  'MDEyMzQ1Njc4OWFiY2RlZg',
  'MfKQ9r8GKYqrTwjUPD8ILPZIo2La-a_w',
])('refuses the secret %s before anything is sent, and says how to make one', (secret) => {
  expect(configured(secret)).toMatchObject({
    ok: false,
    problems: [expect.stringMatching(/^HOLDPOINT_WEBHOOK_SECRET must be base64.*openssl rand/)],
  })
})
