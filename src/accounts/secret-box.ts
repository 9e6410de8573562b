// Encrypts tokens for the store: AES-256-GCM with a fresh IV each time, bound to the row, so that a token cannot be moved to another
// connection. The sealed bytes begin with the key's id; to rotate keys, the operator puts the new one first.
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'
import { PacelineError } from '../kernel/errors.ts'
import type { Random } from '../kernel/random.ts'

const FORMAT = 1
const KEY_ID_BYTES = 4
const IV_BYTES = 12
const TAG_BYTES = 16

interface Key {
  readonly id: Buffer
  readonly bytes: Uint8Array
}

export class SecretBox {
  readonly #keys: readonly Key[]
  readonly #random: Random

  /** The first key encrypts; all decrypt. */
  constructor(keys: readonly Uint8Array[], random: Random) {
    this.#keys = keys.map(bytes => ({ id: createHash('sha256').update(bytes).digest().subarray(0, KEY_ID_BYTES), bytes }))
    this.#random = random
  }

  seal(secret: string, belongsTo: string): Buffer {
    const [key] = this.#keys
    if (key === undefined) throw new Error('there is no key')
    const iv = this.#random.bytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', key.bytes, iv).setAAD(Buffer.from(belongsTo))
    const hidden = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([Buffer.of(FORMAT), key.id, iv, cipher.getAuthTag(), hidden])
  }

  open(sealed: Uint8Array, belongsTo: string): string {
    const bytes = Buffer.from(sealed)
    const [afterId, afterIv] = [1 + KEY_ID_BYTES, 1 + KEY_ID_BYTES + IV_BYTES]
    const key = this.#keys.find(each => each.id.equals(bytes.subarray(1, afterId)))
    if (bytes[0] !== FORMAT || key === undefined) {
      throw new PacelineError(
        'PACE_SECRET_KEY',
        'A stored token was encrypted with a key that PACELINE_SECRET_KEY does not hold; add the old key after the new one.',
      )
    }
    const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(afterId, afterIv), { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(belongsTo)).setAuthTag(bytes.subarray(afterIv, afterIv + TAG_BYTES))
    return Buffer.concat([decipher.update(bytes.subarray(afterIv + TAG_BYTES)), decipher.final()]).toString('utf8')
  }
}
