// Requests a second that the ingest takes, beside a bare route of Fastify that only publishes, in turns: what disturbs one disturbs both.
import { median, percentile } from './figures.ts'
import { loaded, type Load, type Target } from './load.ts'
import { bare, INGEST_TOKEN, serving } from './programs.ts'
import { BARE_INGEST, nightOf, type Servers } from './servers.ts'

const ROUNDS = 5
const ROUND_MS = 2_000

export interface IngestFigures {
  readonly perSecond: number
  readonly p95Ms: number
}

export interface Compared<T> {
  readonly ours: T
  readonly bare: T
}

export async function ingestFigures({ natsUrl, postgresUrl }: Servers): Promise<Compared<IngestFigures>> {
  const paceline = await serving({ PACELINE_POSTGRES_URL: postgresUrl, PACELINE_NATS_URL: natsUrl }, '--roles', 'api')
  const route = await bare('bare-ingest', natsUrl, BARE_INGEST)
  const targets = {
    ours: { port: paceline.port, path: '/api/v1/ingest/sleep', token: INGEST_TOKEN },
    bare: { port: Number(new URL(route.line).port), path: '/' },
  }
  const loads: Record<'ours' | 'bare', Load[]> = { ours: [], bare: [] }
  for (let round = 0; round < ROUNDS; round++)
    for (const side of ['bare', 'ours'] as const) loads[side].push(await roundOf(targets[side], `${side}-${round}`))
  await paceline.stop()
  await route.stop()
  return { ours: figuresOf(loads.ours), bare: figuresOf(loads.bare) }
}

const roundOf = (target: Target, name: string): Promise<Load> =>
  loaded(target, ROUND_MS, n => JSON.stringify(nightOf(`${name}-${n}`)))

/** The first round warms up. */
function figuresOf([, ...loads]: readonly Load[]): IngestFigures {
  return {
    perSecond: median(loads.map(({ perSecond }) => perSecond)),
    p95Ms: percentile(
      loads.flatMap(({ latenciesMs }) => latenciesMs),
      0.95,
    ),
  }
}
