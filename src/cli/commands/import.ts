// Starts an import on the running server and shows its progress until it ends: one line that is rewritten on a terminal, otherwise a line for
// each new message. The server runs the import: stopping this command does not stop it.
import { vendorNames } from '../../vendors/vendors.ts'
import { usage, type Command } from '../arguments.ts'
import { connectRunning, good, type Client } from '../client.ts'
import type { CliContext } from '../context.ts'
import { bar, dayAndTime } from './quota.ts'

interface Import {
  readonly id: string
  readonly status: string
  readonly progress: { readonly detailed: number; readonly total: number | null }
  readonly eta: string | null
  readonly message: string
  readonly problems: readonly { readonly externalId: string; readonly reason: string }[]
}

interface Quotas {
  readonly items: readonly {
    readonly vendor: string
    readonly pools: readonly { readonly windows: readonly Window[] }[]
  }[]
}

interface Window {
  readonly window: string
  readonly allowed: number
  readonly remaining: number
}

const LOOK_MS = 1_000

export const importCommand: Command = {
  name: 'import',
  summary: "Imports an athlete's data from a vendor and shows the progress until it is done.",
  words: vendorNames.join('|'),
  fewestWords: 1,
  mostWords: 1,
  options: {
    athlete: { type: 'string', value: 'ID', means: 'the athlete (see `athlete list`)' },
    full: { type: 'boolean', means: 'everything, not only what is new' },
    restart: { type: 'boolean', means: 'start from the beginning, not where a failed import stopped' },
  },
  run: async (input, context) => {
    const [vendor = ''] = input.words
    const athlete = input.text('athlete')
    if (!vendorNames.some(name => name === vendor)) throw usage(importCommand, `There is no vendor "${vendor}".`)
    if (athlete === undefined) throw usage(importCommand, 'import needs --athlete.')
    const client = await connectRunning(context, context.loadConfig())
    const body = { vendor, type: input.flag('full') ? 'full' : 'incremental', restart: input.flag('restart') }
    const begun = good<Import>(await client.ask('POST', '/v1/imports', { body, athlete }))
    const show = input.json ? silent : shownOn(context, () => quotaLeft(client, vendor, athlete))
    const last = await follow(begun, () => look(client, begun.id, athlete), show, context)
    return conclude(last, input.json, context)
  },
}

const look = async (client: Client, id: string, athlete: string): Promise<Import> =>
  good<Import>(await client.ask('GET', `/v1/imports/${id}`, { athlete }))

const isOver = ({ status }: Import): boolean => status === 'completed' || status === 'failed'

interface Shown {
  show(seen: Import): Promise<void>
  /** Ends a rewritten line, so that the next output begins below it. */
  leave(): void
}

/** Gives the import as it was last seen: at its end, or when a person stopped the command. */
async function follow(
  begun: Import,
  again: () => Promise<Import>,
  shown: Shown,
  { clock, stopAsked }: CliContext,
): Promise<Import> {
  const stop = new AbortController()
  void stopAsked().then(() => {
    stop.abort()
  })
  let seen = begun
  try {
    for (;;) {
      await shown.show(seen)
      if (isOver(seen) || stop.signal.aborted) return seen
      await clock.sleep(LOOK_MS, stop.signal).catch(() => undefined)
      if (!stop.signal.aborted) seen = await again()
    }
  } finally {
    shown.leave()
  }
}

function conclude(last: Import, json: boolean, { terminal }: CliContext): number {
  const exitCode = last.status === 'completed' ? 0 : 1
  if (json) return terminal.line(JSON.stringify(last), exitCode)
  for (const { externalId, reason } of isOver(last) ? last.problems : []) terminal.line(`  ${externalId}: ${reason}`)
  if (!isOver(last)) terminal.line('The import goes on in the background; run the same command to see it again.')
  return exitCode
}

const silent: Shown = { show: () => Promise.resolve(), leave: () => undefined }

function shownOn({ terminal }: CliContext, left: () => Promise<string>): Shown {
  let said: string | undefined
  if (terminal.rewrite === undefined) {
    return {
      show: async ({ message }) => {
        if (message !== said) terminal.line(message)
        said = message
      },
      leave: () => undefined,
    }
  }
  return {
    show: async seen => {
      terminal.rewrite?.(isOver(seen) ? seen.message : barLine(seen, await left()))
      said = seen.message
    },
    leave: () => {
      if (said !== undefined) terminal.line('')
    },
  }
}

function barLine({ progress: { detailed, total }, message, eta }: Import, left: string): string {
  const drawn = total === null ? [] : [bar(detailed, total)]
  return [...drawn, message, ...(eta === null ? [] : [`done about ${dayAndTime(eta)}`]), ...(left === '' ? [] : [left])].join(
    '  ',
  )
}

/** Of the window with the fewest calls left. */
async function quotaLeft(client: Client, vendor: string, athlete: string): Promise<string> {
  const { items } = good<Quotas>(await client.ask('GET', '/v1/quota', { athlete }))
  const windows = items.filter(each => each.vendor === vendor).flatMap(({ pools }) => pools.flatMap(pool => pool.windows))
  const [tightest] = windows.toSorted((one, other) => one.remaining - other.remaining)
  return tightest === undefined ? '' : `${tightest.remaining} of ${tightest.allowed} calls left (${tightest.window})`
}
