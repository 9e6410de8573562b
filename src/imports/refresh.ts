// Fetches the detail of an activity again when a person opens it and the detail is older than a day: an edited description changes nothing
// in the vendor's list. It is a live call within the budget, and all of these calls together have a share of the day's; everybody who opens
// the activity meanwhile waits for the same call. Whatever goes wrong, the stored detail stays and is what they see.
import type { Activities } from '../activities/activities.ts'
import type { AuthorisedOutcome, Connections } from '../accounts/accounts.ts'
import type { Database } from '../db/db.ts'
import { tell } from '../kernel/channels.ts'
import type { Clock } from '../kernel/clock.ts'
import { DAY_MS, MINUTE_MS } from '../kernel/durations.ts'
import { service, type Service } from '../kernel/service.ts'
import { linked } from '../kernel/linked-signal.ts'
import type { Quota } from '../quota/quota.ts'
import type { OpenVendor, StravaActivityDetail, StravaEndpoints, VendorName } from '../vendors/vendors.ts'

interface RefreshParts {
  readonly database: Database
  readonly clock: Clock
  readonly activities: Activities
  readonly connections: Connections
  readonly quota: Pick<Quota, 'vendorState' | 'callsSince'>
  readonly vendor: (name: VendorName) => OpenVendor | undefined
  readonly retentionDays: (vendor: VendorName) => number | undefined
}

const VENDOR = 'strava'
const OLD_MS = DAY_MS
/** The part of the day's budget that refreshes may use: who walks through years of activities must not stop the imports. */
const SHARE = 0.1
/** How long an opened activity waits for its detail (real time); then it is shown as it is stored. */
const PATIENCE_MS = 2_000
/** When it may be tried again: after a call that was not made, after one that failed, and after one that says no. */
const UNSENT_MS = MINUTE_MS
const FAILED_MS = 15 * MINUTE_MS
const REFUSED_MS = DAY_MS

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
    using ended = linked(patience.signal, this.#stopping)
    const over = clock.sleep(PATIENCE_MS * clock.speed, ended.signal).catch(() => undefined)
    await Promise.race([refresh, over])
    patience.abort()
  }

  #begin(athleteId: string, activityId: string): Promise<void> {
    if (this.#stopping.aborted) return Promise.resolve()
    const refresh = this.#refresh(athleteId, activityId)
      .catch((error: unknown) => {
        if (!this.#stopping.aborted) tell('paceline:fault', { where: 'imports', error })
      })
      .finally(() => this.#underWay.delete(activityId))
    this.#underWay.set(activityId, refresh)
    return refresh
  }

  async #refresh(athleteId: string, activityId: string): Promise<void> {
    const { activities, connections, database } = this.#parts
    const externalId = await this.#claim(athleteId, activityId)
    if (externalId === undefined) return
    const outcome = await this.#fetch(athleteId, externalId)
    if (outcome?.outcome === 'ok') {
      await database.transaction(async tx => {
        if (!(await connections.hold(tx, athleteId, VENDOR))) return
        await activities.storeDetails(tx, athleteId, VENDOR, [outcome.value])
      })
    } else await activities.owed.postponeRefresh(activityId, this.#at(againAfter(outcome)))
  }

  /** The external id when this process is to fetch it. */
  async #claim(athleteId: string, activityId: string): Promise<string | undefined> {
    const { activities, retentionDays, vendor } = this.#parts
    if (vendor(VENDOR) === undefined) return undefined
    const days = retentionDays(VENDOR)
    const cutoff = days === undefined ? undefined : this.#at(-days * DAY_MS)
    const opened = { id: activityId, detailedBefore: this.#at(-OLD_MS), cutoff }
    if (!(await activities.owed.isRefreshable(athleteId, VENDOR, opened)) || !(await this.#isWithinShare())) return undefined
    return await activities.owed.claimRefresh(athleteId, VENDOR, { ...opened, again: this.#at(FAILED_MS) })
  }

  /** Imports make their calls for details as backfill; the live ones are made here. */
  async #isWithinShare(): Promise<boolean> {
    const { clock, quota } = this.#parts
    const { pools } = await quota.vendorState(VENDOR)
    const days = pools.flatMap(({ windows }) => windows.filter(({ window }) => window === 'day'))
    const made = await quota.callsSince(VENDOR, { endpoint: 'activity-detail', callClass: 'live' }, clock.now() - DAY_MS)
    return made < SHARE * Math.min(...days.map(({ allowed }) => allowed))
  }

  async #fetch(athleteId: string, externalId: string): Promise<AuthorisedOutcome<StravaActivityDetail> | undefined> {
    const { connections, vendor } = this.#parts
    const endpoints = vendor(VENDOR)?.endpoints as StravaEndpoints | undefined
    const connection = await connections.find(athleteId, VENDOR)
    if (endpoints === undefined || connection?.status !== 'active') return undefined
    const options = { callClass: 'live', athleteId, signal: this.#stopping } as const
    return await connections.call(connection.id, endpoints.activityDetail(externalId), options)
  }

  #at(fromNowMs: number): Date {
    return new Date(this.#parts.clock.now() + fromNowMs)
  }
}

function againAfter(outcome: Exclude<AuthorisedOutcome<unknown>, { outcome: 'ok' }> | undefined): number {
  if (outcome?.outcome === 'no_permit') return UNSENT_MS
  const isRefused = outcome?.outcome === 'absent' || outcome?.outcome === 'rejected' || outcome?.outcome === 'forbidden'
  return isRefused ? REFUSED_MS : FAILED_MS
}
