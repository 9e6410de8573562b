// Random numbers that depend on keys and not on the order of calls: the same seed and keys always give the same numbers. So
// samples can be generated when somebody asks for them and are still always the same.
import { seeded, type Random } from '../../kernel/random.ts'

export function keyedRandom(...keys: readonly (string | number)[]): Random {
  // Two 26-bit hashes in the manner of FNV, because neighbouring keys must not give neighbouring seeds.
  let [low, high] = [0x811c9dc5, 0x9747b28c]
  for (const char of keys.join('|')) {
    const code = char.codePointAt(0) ?? 0
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(high ^ code, 0x85ebca6b) ^ (high >>> 13)
  }
  return seeded((high >>> 6) * 2 ** 26 + (low >>> 6))
}

export const range = (random: Random, from: number, to: number): number => from + random.next() * (to - from)

export function pick<T>(random: Random, list: readonly [T, ...T[]]): T {
  return list[Math.floor(random.next() * list.length)] ?? list[0]
}

/** Mean 0, standard deviation 1. The sum of two numbers is cheap enough for every second of every activity. */
export const noise = (random: Random): number => (random.next() + random.next() - 1) * 2.45

export const hexOf = (random: Random, bytes: number): string => Buffer.from(random.bytes(bytes)).toString('hex')

/** A version 4 UUID. */
export function uuidOf(random: Random): string {
  const hex = hexOf(random, 16)
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}

const SCALES = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000] as const

/** Faster than `toFixed`: it is called ten times for every second of every activity. */
export function round(value: number, digits: 0 | 1 | 2 | 3 | 4 | 5 | 6): number {
  const scale = SCALES[digits]
  return Math.round(value * scale) / scale
}
