// Fetches the detail of an activity again when a person opens it and the detail is older than a day: an edited description changes nothing
// in the vendor's list. It is a live call within the budget; all who open the activity meanwhile wait for the same call. Whatever goes
// wrong, the stored detail stays and is what they see.
import type { Activities } from '../activities/activities.ts'
import type { Connections } from '../accounts/accounts.ts'
import type { Database } from '../db/db.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS, MINUTE_MS } from '../kernel/durations.ts'
import { service, type Service } from '../kernel/service.ts'
import type { OpenVendor, StravaEndpoints, VendorName } from '../vendors/vendors.ts'

interface RefreshParts {
  readonly database: Database
  readonly clock: Clock
  readonly activities: Activities
  readonly connections: Connections
  readonly vendor: (name: VendorName) => OpenVendor | undefined
}

const VENDOR = 'strava'
const OLD_MS = DAY_MS
/** After a call that brought nothing. */
const AGAIN_MS = MINUTE_MS
/** How long an opened activity waits for its detail (real time); then it is shown as it is stored. */
const PATIENCE_MS = 2_000

export class DetailRefresh {
  readonly #parts: RefreshParts
  readonly #underWay = new Map<string, Promise<void>>()
  #stopping = AbortSignal.abort()
  readonly service: Service = service('detail-refresh', {
    open: signal => {
      this.#stopping = signal
    },
    shut: async () => {
      await Promise.all(this.#underWay.values())
    },
  })

  constructor(parts: RefreshParts) {
    this.#parts = parts
  }

  async refreshed(athleteId: string, activityId: string): Promise<void> {
    const refresh = this.#underWay.get(activityId) ?? this.#begin(athleteId, activityId)
    const patience = new AbortController()
    const { clock } = this.#parts
    const over = clock.sleep(PATIENCE_MS * clock.speed, AbortSignal.any([patience.signal, this.#stopping])).catch(() => undefined)
    await Promise.race([refresh, over])
    patience.abort()
  }

  #begin(athleteId: string, activityId: string): Promise<void> {
    if (this.#stopping.aborted) return Promise.resolve()
    const refresh = this.#fetch(athleteId, activityId)
      .catch((error: unknown) => {
        if (!this.#stopping.aborted) tell('paceline:fault', { where: 'imports', error })
      })
      .finally(() => this.#underWay.delete(activityId))
    this.#underWay.set(activityId, refresh)
    return refresh
  }

  async #fetch(athleteId: string, activityId: string): Promise<void> {
    const { activities, clock, connections, database, vendor } = this.#parts
    const endpoints = vendor(VENDOR)?.endpoints as StravaEndpoints | undefined
    if (endpoints === undefined) return
    const before = (ms: number): Date => new Date(clock.now() - ms)
    const old = { id: activityId, detailedBefore: before(OLD_MS), askedBefore: before(AGAIN_MS) }
    const externalId = await activities.owed.claimRefresh(athleteId, VENDOR, old)
    const connection = externalId === undefined ? undefined : await connections.find(athleteId, VENDOR)
    if (externalId === undefined || connection?.status !== 'active') return
    const options = { callClass: 'live', athleteId, signal: this.#stopping } as const
    const outcome = await connections.call(connection.id, endpoints.activityDetail(externalId), options)
    if (outcome.outcome !== 'ok') return
    await database.transaction(async tx => {
      await activities.storeDetails(tx, athleteId, VENDOR, [outcome.value])
    })
  }
}
