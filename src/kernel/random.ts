// Chance as a port: `seeded` repeats itself for a seed (simulation, jitter in tests); `secure` is for whatever an attacker
// must not guess (tokens, state, IVs) and is also the production default for jitter.
import { randomBytes, randomFillSync } from 'node:crypto'

export interface Random {
  /** A float in [0, 1). */
  next(): number
  bytes(count: number): Uint8Array
}

/** A whole number in [from, to], both included. */
export const between = (random: Random, from: number, to: number): number => from + Math.floor(random.next() * (to - from + 1))

/** A call of the system for each id would cost as much as all the rest of a small request. */
const POOL_BYTES = 4096

export function secure(): Random {
  const pool = Buffer.alloc(POOL_BYTES)
  let used = POOL_BYTES
  const bytes = (count: number): Buffer => {
    if (count > POOL_BYTES / 8) return randomBytes(count)
    if (used + count > POOL_BYTES) {
      randomFillSync(pool)
      used = 0
    }
    const taken = Buffer.from(pool.subarray(used, used + count))
    // What was given out does not stay here.
    pool.fill(0, used, used + count)
    used += count
    return taken
  }
  return { next: () => bytes(6).readUIntBE(0, 6) / 2 ** 48, bytes }
}

/** sfc32: small, fast and statistically sound; never for secrets. */
export function seeded(seed: number): Random {
  let [a, b, c, counter] = [seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0, 0x9e3779b9, 1]
  const next32 = (): number => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return sum >>> 0
  }
  // The first outputs still show the seed's pattern.
  for (let warmUp = 0; warmUp < 12; warmUp++) next32()
  return {
    next: () => next32() / 2 ** 32,
    bytes: count => Uint8Array.from({ length: count }, () => next32() & 0xff),
  }
}
