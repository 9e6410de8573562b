import { KEPT_DAYS } from '../../quota/quota.ts'
import { usage, type Arguments, type Command } from '../arguments.ts'
import { asking, good, type Client } from '../client.ts'
import { everyAthlete } from './athlete.ts'

interface Window {
  readonly window: string
  readonly limit: number
  readonly allowed: number
  readonly used: number
  readonly resetAt: string
  readonly closed: boolean
}

interface State {
  readonly vendor: string
  readonly pools: readonly { readonly pool: string; readonly windows: readonly Window[] }[]
  readonly nextBackfillAt: string | null
}

interface Usage {
  readonly vendor: string
  readonly endpoints: readonly {
    readonly endpoint: string
    readonly class: string
    readonly calls: number
    readonly refused: number
  }[]
  readonly athletes: readonly { readonly athleteId: string | null; readonly calls: number }[]
}

interface Shown {
  readonly items: readonly State[]
  readonly usage: readonly Usage[]
}

export const quotaCommand: Command = {
  name: 'quota',
  summary: "Shows how much of each vendor's quota is left, and who used it.",
  words: '',
  fewestWords: 0,
  mostWords: 0,
  options: {
    days: { type: 'string', value: 'N', means: `show the use of the last N days, today included (1 to ${KEPT_DAYS}, default 1)` },
    athlete: { type: 'string', value: 'ID', means: "add the quotas of this athlete's own tokens, and show only their calls" },
  },
  run: async (input, context) => {
    const days = daysOf(input)
    const { shown, names } = await asking(context, async client => {
      const found = await look(client, days, input.text('athlete'))
      return { shown: found, names: input.json ? new Map<string, string>() : await namesIn(client, found) }
    })
    return context.terminal.line(input.json ? JSON.stringify(shown) : page(shown, names, days), 0)
  },
}

function daysOf(input: Arguments): number {
  const text = input.text('days') ?? '1'
  const days = Number(text)
  if (/^\d+$/.test(text) && days >= 1 && days <= KEPT_DAYS) return days
  throw usage(quotaCommand, `--days takes a whole number from 1 to ${KEPT_DAYS}, not "${text}".`)
}

async function look(client: Client, days: number, athlete: string | undefined): Promise<Shown> {
  const everyones = good<Shown>(await client.ask('GET', `/admin/quota?days=${days}`))
  if (athlete === undefined) return everyones
  const { items } = good<Pick<Shown, 'items'>>(await client.ask('GET', '/v1/quota', { athlete }))
  // The counts by endpoint do not say whose calls they were.
  const theirs = (one: Usage): Usage => ({
    ...one,
    endpoints: [],
    athletes: one.athletes.filter(({ athleteId }) => athleteId === athlete),
  })
  return { items, usage: everyones.usage.map(theirs) }
}

/** The names of those who called. */
async function namesIn(client: Client, { usage: spent }: Shown): Promise<ReadonlyMap<string, string>> {
  const isSomebodys = spent.some(({ athletes }) => athletes.some(({ athleteId }) => athleteId !== null))
  const athletes = isSomebodys ? await everyAthlete(client) : []
  return new Map(athletes.map(({ id, name }) => [id, name]))
}

function page({ items, usage: spent }: Shown, names: ReadonlyMap<string, string>, days: number): string {
  if (items.length === 0) return 'No vendor has credentials; `paceline doctor` says which variables to set.'
  const parts = items.map(state => {
    const calls = callLines(
      spent.find(({ vendor }) => vendor === state.vendor),
      names,
      days,
    )
    return [...stateLines(state), ...calls].join('\n')
  })
  return parts.join('\n')
}

function stateLines({ vendor, pools, nextBackfillAt }: State): string[] {
  const backfill = nextBackfillAt === null ? 'backfill may go on now' : `backfill goes on at ${dayAndTime(nextBackfillAt)}`
  const isTouched = pools.some(({ windows }) => windows.some(({ used, closed }) => used > 0 || closed))
  if (pools.length === 0) return [`${vendor}: every athlete's token has a quota of its own (--athlete ID)`]
  if (!isTouched) return [`${vendor}: nothing used now${nextBackfillAt === null ? '' : `, ${backfill}`}`]
  return [vendor, ...pools.flatMap(({ pool, windows }) => windows.map(window => windowLine(pool, window))), `  ${backfill}`]
}

function windowLine(pool: string, { window, limit, allowed, used, resetAt, closed }: Window): string {
  const amount = `${used}/${allowed} (limit ${limit})`
  const name = `${pool.padEnd(13)}  ${window.padEnd(6)}`
  return `  ${name}  ${bar(used, allowed)}  ${amount.padEnd(24)}  resets ${timeOf(resetAt)}${closed ? '  closed' : ''}`
}

const BAR_WIDTH = 20

/** Any use shows at least one mark, and only a full window looks full. */
export function bar(used: number, allowed: number): string {
  const part = allowed === 0 ? 1 : Math.min(1, used / allowed)
  const filled = part < 1 ? Math.min(BAR_WIDTH - 1, Math.ceil(part * BAR_WIDTH)) : BAR_WIDTH
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}]`
}

export const timeOf = (iso: string): string => `${iso.slice(11, 16)} UTC`
export const dayAndTime = (iso: string): string => `${iso.slice(0, 10)} ${timeOf(iso)}`

function callLines(spent: Usage | undefined, names: ReadonlyMap<string, string>, days: number): string[] {
  const athletes = spent?.athletes ?? []
  if (spent === undefined || athletes.length === 0) return []
  const nameOf = (athleteId: string | null): string =>
    athleteId === null ? 'nobody (or disconnected)' : `${names.get(athleteId) ?? 'unknown'} (${athleteId})`
  return [
    `  calls ${days === 1 ? 'today' : `in ${days} days`}`,
    ...athletes.map(({ athleteId, calls }) => `    ${String(calls).padStart(6)}  ${nameOf(athleteId)}`),
    ...spent.endpoints.map(
      ({ endpoint, class: callClass, calls, refused }) =>
        `    ${String(calls).padStart(6)}  ${endpoint}, ${callClass}${refused === 0 ? '' : `, ${refused} refused`}`,
    ),
  ]
}
