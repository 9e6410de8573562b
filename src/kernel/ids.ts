// UUIDv7 (RFC 9562): 48 bits of time, then a 12-bit counter that keeps ids of one millisecond in order, then chance.
// Ids of one process sort in the order in which they were made, so a primary key is also an arrival order.
import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

export type NewId = () => string

const COUNTER_MAX = 0xfff

export function idMaker(clock: Clock, random: Random): NewId {
  let lastMs = -1
  let counter = 0
  return () => {
    const now = clock.now()
    if (now > lastMs) {
      lastMs = now
      // Starts in the lower half, so that a burst has room before it must borrow the next millisecond.
      counter = Math.floor(random.next() * (COUNTER_MAX / 2))
    } else if (counter === COUNTER_MAX) {
      lastMs += 1
      counter = 0
    } else counter += 1
    return format(lastMs, counter, random.bytes(8))
  }
}

function format(ms: number, counter: number, chance: Uint8Array): string {
  const time = ms.toString(16).padStart(12, '0')
  const rest = Buffer.from(chance)
  rest[0] = (rest.readUInt8(0) & 0x3f) | 0x80
  const tail = rest.toString('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${tail.slice(0, 4)}-${tail.slice(4)}`
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

/** An id from outside is checked before it reaches SQL, where a malformed one would be an error and not a "not found". */
export const isId = (text: string): boolean => UUID.test(text)
