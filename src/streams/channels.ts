// Channels as they are stored: a name and an array of samples each, all as long as `time`. What does not agree is refused with the
// reason, because it would be drawn shifted.

type Channels = Readonly<Record<string, readonly unknown[]>>

export interface WholeChannels {
  readonly outcome: 'whole'
  readonly data: Channels
  readonly names: readonly string[]
  readonly pointCount: number
}

export type Examined = WholeChannels | { readonly outcome: 'broken'; readonly reason: string } | { readonly outcome: 'empty' }

/** Channels without a sample are left out, as are those that were never there. */
export function examined(given: Readonly<Record<string, readonly unknown[] | undefined>>): Examined {
  const found = Object.entries(given).flatMap(([name, samples]) => (samples?.length ? [[name, samples] as const] : []))
  if (found.length === 0) return { outcome: 'empty' }
  const data = Object.fromEntries(found)
  const pointCount = data['time']?.length
  if (pointCount === undefined) return { outcome: 'broken', reason: 'there is no time channel' }
  const other = found.find(([, samples]) => samples.length !== pointCount)
  if (other !== undefined) {
    return { outcome: 'broken', reason: `time has ${pointCount} samples, ${other[0]} ${other[1].length}` }
  }
  return { outcome: 'whole', data, names: found.map(([name]) => name), pointCount }
}
