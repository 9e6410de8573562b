// The door. Takes in what vendors send by themselves: it checks the sender, stores the content, then answers. So far that is Garmin's
// pushes, which carry the data itself: each athlete's activities, nights and samples are stored in one transaction. Garmin sends an item
// again under the same id as it grows.
import type { Connections, Erasure } from '../accounts/accounts.ts'
import type { Database } from '../db/db.ts'
import type { Imports } from '../imports/imports.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { MINUTE_MS } from '../kernel/durations.ts'
import type { Streams } from '../streams/streams.ts'
import type { Delivery, GarminSummary, OpenVendor, VendorName, WebhookEvent } from '../vendors/vendors.ts'

interface InboxParts {
  readonly database: Database
  readonly clock: Clock
  readonly connections: Pick<Connections, 'heard' | 'hold'>
  readonly erasure: Pick<Erasure, 'deauthorised'>
  readonly imports: Pick<Imports, 'pushed'>
  readonly streams: Pick<Streams, 'storeGarminDetails'>
  readonly vendor: (name: VendorName) => OpenVendor | undefined
}

/** Why nothing of a delivery is stored. */
export type Refused =
  /** The operator gave no credentials for this vendor. */
  { readonly outcome: 'unknown_vendor' } | { readonly outcome: 'refused' | 'malformed'; readonly reason: string }

type Received = { readonly outcome: 'stored' } | Refused

const REPLAY_WINDOW_MS = 5 * MINUTE_MS

export class Inbox {
  readonly #parts: InboxParts

  constructor(parts: InboxParts) {
    this.#parts = parts
  }

  /** What can be said before the body is read; undefined: nothing against it. */
  refuses(name: 'garmin', headers: Delivery['headers']): Refused | undefined {
    const webhooks = this.#parts.vendor(name)?.webhooks
    if (webhooks === undefined) return { outcome: 'unknown_vendor' }
    const proof = webhooks.proveHeaders?.(headers)
    return proof?.outcome === 'refused' ? proof : undefined
  }

  /** Everything is stored when it resolves. Data of unknown athletes is dropped. */
  async receive(name: 'garmin', delivery: Delivery): Promise<Received> {
    const { clock, vendor } = this.#parts
    const webhooks = vendor(name)?.webhooks
    if (webhooks === undefined) return { outcome: 'unknown_vendor' }
    const proof = webhooks.prove(delivery, { now: clock.realAt(clock.now()), replayWindowMs: REPLAY_WINDOW_MS })
    if (proof.outcome === 'refused') return proof
    const read = webhooks.read(delivery.body)
    if (read.outcome === 'malformed') return read
    for (const { reason } of read.broken)
      tell('paceline:notice', { where: name, sentence: `A push could not be read: ${reason}` })
    const byOwner = Map.groupBy(read.events, event => ('owner' in event ? event.owner : undefined))
    for (const [owner, events] of byOwner) if (owner !== undefined) await this.#hand(name, owner, events)
    return { outcome: 'stored' }
  }

  async #hand(name: 'garmin', owner: string, events: readonly WebhookEvent[]): Promise<void> {
    const { connections, database, imports, erasure, streams } = this.#parts
    if (events.some(({ kind }) => kind === 'deauthorised')) {
      await erasure.deauthorised(name, owner)
      return
    }
    const athleteId = await connections.heard(name, owner)
    const summaries = events.flatMap((event): GarminSummary[] => (event.kind === 'delivered' ? [event] : []))
    if (athleteId === undefined || summaries.length === 0) return
    await database.transaction(async tx => {
      if (!(await connections.hold(tx, athleteId, name))) return
      await imports.pushed(athleteId, summaries, tx)
      for (const { dataKind, summary } of summaries)
        if (dataKind === 'activity-details') await streams.storeGarminDetails(athleteId, summary, tx)
    })
  }
}
