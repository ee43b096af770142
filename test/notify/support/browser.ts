import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'
import type { PushMessage } from '../../../src/notify/web-push.ts'

/** A browser's side of Web Push: what it gives to subscribe, and how it reads what it is sent (RFC 8188, RFC 8291). */
export function createBrowser(endpoint: string) {
  const curve = createECDH('prime256v1')
  const publicKey = curve.generateKeys()
  const auth = randomBytes(16)
  return {
    subscription: {
      endpoint,
      expirationTime: null,
      keys: { p256dh: publicKey.toString('base64url'), auth: auth.toString('base64url') },
    },
    read(body: Buffer): PushMessage {
      const salt = body.subarray(0, 16)
      const senderLength = body[20]!
      const sender = body.subarray(21, 21 + senderLength)
      const sealed = body.subarray(21 + senderLength)
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, sender])
      const secret = Buffer.from(hkdfSync('sha256', curve.computeSecret(sender), auth, info, 32))
      const derive = (name: string, length: number) =>
        Buffer.from(hkdfSync('sha256', secret, salt, `Content-Encoding: ${name}\0`, length))
      const decipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12))
      decipher.setAuthTag(sealed.subarray(-16))
      const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
      return JSON.parse(padded.subarray(0, padded.lastIndexOf(2)).toString('utf8'))
    },
  }
}
