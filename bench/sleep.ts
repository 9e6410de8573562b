// Nights on their way: the ingest beside a bare route that only publishes, the normaliser beside a bare loop of pull, upsert and
// acknowledgement, the relay beside a bare loop of publishes, all on the same servers in turns; what a process that only normalises uses; and
// the embedded side.
import type { Bench, Measured } from '../scripts/bench.ts'
import type { ProgramName } from '../test/servers/programs.ts'
import { embeddedFigures, type EmbeddedFigures } from './sleep/embedded.ts'
import { ingestFigures } from './sleep/ingest.ts'
import { normaliseFigures, type ProcessFigures } from './sleep/normalise.ts'
import { relayFigures } from './sleep/relay.ts'
import { openServers } from './sleep/servers.ts'

export const about = 'nights from the ingest over the bus into rows, and the relay, beside bare loops on the same servers'
export const needs: readonly ProgramName[] = ['postgres', 'nats']

const rate = (what: string, value: number): Measured => ({ what, value, unit: '/s' })
const times = (what: string, value: number): Measured => ({ what, value, unit: 'x' })
const ms = (what: string, value: number): Measured => ({ what, value, unit: 'ms' })

export async function run(): Promise<Bench> {
  await using stack = new AsyncDisposableStack()
  const servers = await openServers(stack)
  const ingest = await ingestFigures(servers)
  const normalise = await normaliseFigures(servers)
  const relay = await relayFigures(servers)
  const embedded = await embeddedFigures()
  return {
    ours: rate('ingest', ingest.ours.perSecond),
    reference: rate('a bare Fastify route that publishes', ingest.bare.perSecond),
    also: [
      times('ingest to bare (goal 0.6)', ingest.ours.perSecond / ingest.bare.perSecond),
      ms('ingest, p95 (goal 50)', ingest.ours.p95Ms),
      ms('the bare route, p95', ingest.bare.p95Ms),
      rate('normalise', normalise.ours.perSecond),
      rate('a bare loop of pull, upsert and ack', normalise.bare.perSecond),
      times('normalise to bare (goal 0.5)', normalise.ours.perSecond / normalise.bare.perSecond),
      ms('from publish to ack at 200/s, p95 (goal 500)', normalise.ours.p95Ms),
      ms('the bare loop, p95 (it waits for ten)', normalise.bare.p95Ms),
      ...processRows(normalise.process),
      rate('relay, events of 100 athletes', relay.many),
      rate('relay, events of one athlete', relay.one),
      rate('a bare loop of publishes', relay.bare),
      rate('bare publishes, 500 at a time', relay.bareTogether),
      times('relay to the bare loop, 100 athletes (goal 0.5)', relay.many / relay.bare),
      times('relay to the bare loop, one athlete (goal 0.5)', relay.one / relay.bare),
      ...embeddedRows(embedded),
    ],
  }
}

const processRows = (used: ProcessFigures): Measured[] => [
  { what: 'only normalising: memory afterwards (goal 256)', value: used.memoryMb, unit: 'MB' },
  { what: 'only normalising: memory at its peak', value: used.peakMemoryMb, unit: 'MB' },
  { what: 'only normalising: idle (goal 50)', value: used.idlePercent, unit: '% of a core' },
  { what: 'only normalising: at its peak', value: used.peakPercent, unit: '% of a core' },
  { what: 'only normalising: database connections (goal 10)', value: used.connections, unit: '' },
]

const embeddedRows = ({ ingestPerSecond, p95Ms, normalisePerSecond }: EmbeddedFigures): Measured[] => [
  rate('embedded: ingest, while nights are stored', ingestPerSecond),
  ms('embedded: ingest, p95', p95Ms),
  rate('embedded: normalise, once nobody sends', normalisePerSecond),
]
