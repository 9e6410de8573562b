// Reads an activity second by second, and what these streams say about it.
import { setTimeout as sleep } from 'node:timers/promises'
import { asking, connectStrava, newAthlete, startPaceline } from './local-paceline.ts'

interface Activity {
  readonly id: string
  readonly name: string
  readonly manual: boolean
}

interface Streams {
  readonly status: 'pending' | 'fetching' | 'success' | 'failed' | 'deferred' | 'unavailable'
  readonly stream_data: Readonly<Record<string, readonly unknown[]>> | null
  readonly point_count: number | null
  /** Why there are none, or none yet. */
  readonly reason?: string
}

interface Shape {
  readonly sentence: string
  /** They add up to the whole. */
  readonly segments: readonly { readonly kind: string; readonly elapsedS: number; readonly distanceMeters: number | null }[]
}

await using paceline = await startPaceline({ activities: 3 })
const athlete = asking(paceline.url, await newAthlete(paceline))
await connectStrava(athlete)

// The import lists the activities first. An entry by hand has no streams.
const recorded = async (): Promise<Activity | undefined> =>
  (await athlete<{ items: Activity[] }>('GET', '/v1/activities')).items.find(({ manual }) => !manual)
let activity = await recorded()
for (; activity === undefined; activity = await recorded()) await sleep(200)

// Streams come by themselves, in time. Asking moves them to the front, and `wait` holds the answer for so many milliseconds.
const path = `/v1/activities/${activity.id}`
const isOnItsWay = ({ status, reason }: Streams): boolean =>
  status !== 'success' && status !== 'unavailable' && reason !== 'exhausted'
let streams = await athlete<Streams>('GET', `${path}/streams?wait=10000`)
for (; isOnItsWay(streams); streams = await athlete<Streams>('GET', `${path}/streams?wait=10000`)) await sleep(200)
console.log(`${activity.name}: ${streams.status}, ${streams.point_count ?? 0} samples`)

// Every channel is as long as `time`.
for (const [channel, samples] of Object.entries(streams.stream_data ?? {}))
  console.log(`  ${channel}: ${samples.slice(0, 3).map(String).join(' ')} …`)

// Without streams this is refused with PACE_NO_STREAMS.
const { sentence, segments } = await athlete<Shape>('GET', `${path}/shape`)
console.log(sentence)
for (const { kind, elapsedS, distanceMeters } of segments)
  console.log(`  ${kind}: ${(elapsedS / 60).toFixed(1)} min, ${Math.round(distanceMeters ?? 0)} m`)
