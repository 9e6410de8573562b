// The embedded side, everything in one process on the embedded store: requests a second that the ingest takes while the nights are stored
// beside it, and nights a second that are stored once nobody sends any more.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from './figures.ts'
import { loaded } from './load.ts'
import { INGEST_TOKEN, serving } from './programs.ts'
import { nightOf } from './servers.ts'

const WARM_MS = 2_000
const LOAD_MS = 6_000
const LOOK_MS = 50

export interface EmbeddedFigures {
  readonly ingestPerSecond: number
  readonly p95Ms: number
  readonly normalisePerSecond: number
}

export async function embeddedFigures(): Promise<EmbeddedFigures> {
  const server = await serving({})
  const target = { port: server.port, path: '/api/v1/ingest/sleep', token: INGEST_TOKEN }
  const load = (name: string, ms: number) => loaded(target, ms, n => JSON.stringify(nightOf(`${name}-${n}`)))
  const warm = await load('warm', WARM_MS)
  const { perSecond, latenciesMs } = await load('load', LOAD_MS)
  const all = warm.latenciesMs.length + latenciesMs.length
  const [storedBefore, startedAt] = [await stored(server.port), performance.now()]
  while ((await stored(server.port)) < all) await sleep(LOOK_MS)
  const normalisePerSecond = (1000 * (all - storedBefore)) / (performance.now() - startedAt)
  await server.stop()
  return { ingestPerSecond: perSecond, p95Ms: percentile(latenciesMs, 0.95), normalisePerSecond }
}

async function stored(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  assert.doesNotMatch(text, /^dlq_messages_total\{/m)
  return Number(/^normalize_sleep_messages_total\{result="success".*\} (\d+)$/m.exec(text)?.[1] ?? 0)
}
