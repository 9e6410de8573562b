// Nights a second from the bus into rows, beside a bare loop of pull, upsert and acknowledgement, in turns; how long one takes from its
// publishing to its acknowledgement at an even pace; and what a process that only normalises uses.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSeconds, memoryMb, peakMemoryMb } from '../idle/rest.ts'
import { Acks } from './acks.ts'
import { median, percentile } from './figures.ts'
import type { Compared } from './ingest.ts'
import { bare, working, type Program } from './programs.ts'
import { BARE, nightOf, OURS, run, type Servers } from './servers.ts'

const ROUNDS = 5
const MESSAGES = 4_000
const PACE_MS = 5
const PACED = 2_000
const IDLE_MS = 20_000
const SETTLE_MS = 5_000

export interface NormaliseFigures {
  readonly perSecond: number
  readonly p95Ms: number
}

export interface ProcessFigures {
  readonly idlePercent: number
  readonly peakPercent: number
  readonly memoryMb: number
  readonly peakMemoryMb: number
  readonly connections: number
}

interface Side {
  readonly program: Program
  readonly acks: Acks
  readonly subject: string
}

interface Burst {
  readonly perSecond: number
  readonly cpuPercent: number
}

export async function normaliseFigures(servers: Servers): Promise<Compared<NormaliseFigures> & { process: ProcessFigures }> {
  const { natsUrl, postgresUrl, bareUrl, connection } = servers
  const normalising = await working('normalize', { PACELINE_POSTGRES_URL: postgresUrl, PACELINE_NATS_URL: natsUrl })
  const loop = await bare('bare-normalise', natsUrl, bareUrl, BARE.stream, BARE.durable)
  const sides = {
    ours: { program: normalising, acks: new Acks(connection, OURS), subject: OURS.subject },
    bare: { program: loop, acks: new Acks(connection, BARE), subject: BARE.subject },
  }
  const counting = countConnections(servers)
  const bursts: Record<'ours' | 'bare', Burst[]> = { ours: [], bare: [] }
  for (let round = 0; round < ROUNDS; round++)
    for (const side of ['bare', 'ours'] as const) bursts[side].push(await burst(servers, sides[side], `${side}-${round}`))
  const p95Ms = { bare: await pacedP95Ms(servers, sides.bare), ours: await pacedP95Ms(servers, sides.ours) }
  const connections = await counting.stop()
  const process = { ...(await processFigures(normalising, bursts.ours)), connections }
  for (const { program, acks } of Object.values(sides)) {
    assert.equal(acks.others, 0, 'something was not simply acknowledged')
    acks.close()
    await program.stop()
  }
  const figuresOf = (side: 'ours' | 'bare'): NormaliseFigures => ({
    perSecond: median(bursts[side].slice(1).map(({ perSecond }) => perSecond)),
    p95Ms: p95Ms[side],
  })
  return { ours: figuresOf('ours'), bare: figuresOf('bare'), process }
}

/** It stands still until all are published, and is then let go. */
async function burst(servers: Servers, { program, acks, subject }: Side, name: string): Promise<Burst> {
  await sleep(500)
  process.kill(program.pid, 'SIGSTOP')
  await publish(servers, subject, name)
  const known = acks.at.size
  const [startedAt, cpuBefore] = [performance.now(), cpuSeconds(program.pid)]
  process.kill(program.pid, 'SIGCONT')
  while (acks.at.size < known + MESSAGES) {
    // Throws when it has ended.
    process.kill(program.pid, 0)
    await sleep(5)
  }
  const seconds = (acks.lastAt - startedAt) / 1000
  return { perSecond: MESSAGES / seconds, cpuPercent: (100 * (cpuSeconds(program.pid) - cpuBefore)) / seconds }
}

async function publish(servers: Servers, subject: string, name: string): Promise<void> {
  await Promise.all(Array.from({ length: MESSAGES }, (_, n) => publishOne(servers, subject, `${name}-${n}`)))
}

/** As the ingest publishes; gives the message's place. */
async function publishOne({ client }: Servers, subject: string, name: string): Promise<number> {
  const event = { eventId: name, payload: nightOf(name) }
  return (await client.publish(subject, JSON.stringify(event), { msgID: name })).seq
}

async function pacedP95Ms(servers: Servers, { acks, subject }: Side): Promise<number> {
  const publishedAt = new Map<number, number>()
  const publishing: Promise<void>[] = []
  const startedAt = performance.now()
  for (let n = 0; n < PACED; n++) {
    await sleep(Math.max(0, startedAt + n * PACE_MS - performance.now()))
    const at = performance.now()
    publishing.push(publishOne(servers, subject, `${subject}-paced-${n}`).then(seq => void publishedAt.set(seq, at)))
  }
  await Promise.all(publishing)
  const seqs = [...publishedAt.keys()]
  while (seqs.some(seq => !acks.at.has(seq))) await sleep(20)
  return percentile(
    seqs.map(seq => (acks.at.get(seq) ?? Number.NaN) - (publishedAt.get(seq) ?? Number.NaN)),
    0.95,
  )
}

async function processFigures({ pid }: Program, bursts: readonly Burst[]): Promise<Omit<ProcessFigures, 'connections'>> {
  await sleep(SETTLE_MS)
  const [cpuBefore, startedAt] = [cpuSeconds(pid), performance.now()]
  await sleep(IDLE_MS)
  const seconds = (performance.now() - startedAt) / 1000
  return {
    idlePercent: (100 * (cpuSeconds(pid) - cpuBefore)) / seconds,
    peakPercent: Math.max(...bursts.map(({ cpuPercent }) => cpuPercent)),
    memoryMb: memoryMb(pid),
    peakMemoryMb: peakMemoryMb(pid),
  }
}

const LOOK_MS = 200

/** The most that are open at once to Paceline's database, seen from another one. */
function countConnections({ postgresUrl, watchUrl }: Servers): { stop(): Promise<number> } {
  const name = new URL(postgresUrl).pathname.slice(1)
  const asked = new AbortController()
  let most = 0
  const looking = (async () => {
    while (!asked.signal.aborted) {
      const [row] = await run<{ count: number }>(
        watchUrl,
        `select count(*)::integer as count from pg_stat_activity where datname = '${name}'`,
      )
      most = Math.max(most, row?.count ?? 0)
      await sleep(LOOK_MS)
    }
  })()
  return {
    stop: async () => {
      asked.abort()
      await looking
      return most
    },
  }
}
