// Which importer fetches a vendor's history, and what it gets for it.
import type { Activities } from '../activities/activities.ts'
import type { SleepIngest } from '../sleep/sleep.ts'
import type { CallClass } from '../quota/quota.ts'
import {
  GARMIN_BACKFILL_DAYS_MAX,
  type FoursquareEndpoints,
  type GarminEndpoints,
  type OpenVendor,
  type OuraEndpoints,
  type StravaEndpoints,
  type VendorName,
  type WhoopEndpoints,
} from '../vendors/vendors.ts'
import { checkinImport } from './checkin-import.ts'
import { garminImport } from './garmin-import.ts'
import { beginCheckins, checkinCallsLeft, type CheckinCursor } from './checkin-steps.ts'
import { beginGarmin, garminCallsLeft, QUIET_MS, type GarminCursor } from './garmin-steps.ts'
import { nightImport } from './night-import.ts'
import { beginNights, nightCallsLeft, ouraSource, whoopSource, type NightCursor } from './night-steps.ts'
import { Run, type Ending, type RunParts } from './run.ts'
import type { ImportJob } from './job-store.ts'
import type { BaseCursor, Counter, Course, Importer } from './steps.ts'
import { StravaImport } from './strava-import.ts'

interface ImporterParts {
  readonly activities: Activities
  readonly ingest: SleepIngest
  readonly athleteId: string
  /** The history was never complete. */
  readonly isFirst: boolean
  /** The athlete has taken a permission back. */
  readonly isNarrowed: () => Promise<boolean>
}

interface VendorImports {
  /** What an import counts: in words, and the field of its cursor. */
  readonly noun: string
  readonly counter: Counter
  /** False for a vendor that sends new data by itself. */
  readonly isPolled: boolean
  /** Its whole list is read again every week, and when the scopes change. */
  readonly isRelooked: boolean
  /** The class of the calls that its imports consist of, apart from a few. */
  readonly callClass: CallClass
  /** About how many of them are left, by its cursor; undefined while nobody can say. Strava's are counted in the rows. */
  readonly callsLeft?: (stored: never, course: Omit<Course<unknown>, 'cursor'>) => number | undefined
  /** Units that a call takes of a pool, where not one. */
  readonly units?: Readonly<Record<string, number>>
  /** How long after its last call an import ends. */
  readonly endsAfterMs?: number
  readonly run: (endpoints: never, parts: ImporterParts) => (runParts: RunParts, job: ImportJob) => Promise<Ending>
}

const by =
  <E, C extends BaseCursor, R, W>(importer: (endpoints: E, parts: ImporterParts) => Importer<C, R, W>) =>
  (endpoints: E, parts: ImporterParts) =>
  (runParts: RunParts, job: ImportJob): Promise<Ending> =>
    new Run(runParts, job, importer(endpoints, parts)).visit()

const ACTIVITIES = { noun: 'activities', counter: 'activities_imported', callClass: 'backfill' } as const
const NIGHTS = {
  noun: 'nights',
  counter: 'nights_imported',
  isPolled: true,
  isRelooked: false,
  callClass: 'live',
  callsLeft: (stored: Partial<NightCursor>, course: Omit<Course<unknown>, 'cursor'>) =>
    nightCallsLeft({ ...course, cursor: beginNights(stored) }),
} as const

/** By vendor. A new one is added here. */
export const importers: Readonly<Record<VendorName, VendorImports>> = {
  strava: {
    ...ACTIVITIES,
    isPolled: true,
    isRelooked: true,
    run: by((endpoints: StravaEndpoints, parts) => new StravaImport({ ...parts, endpoints })),
  },
  garmin: {
    ...ACTIVITIES,
    isPolled: false,
    isRelooked: false,
    callsLeft: (stored: Partial<GarminCursor>, course) => garminCallsLeft({ ...course, cursor: beginGarmin(stored, course) }),
    units: { 'backfill-days': GARMIN_BACKFILL_DAYS_MAX },
    endsAfterMs: QUIET_MS,
    run: by((endpoints: GarminEndpoints, parts) => garminImport({ ...parts, endpoints })),
  },
  oura: { ...NIGHTS, run: by((endpoints: OuraEndpoints, parts) => nightImport(ouraSource(endpoints), parts)) },
  whoop: { ...NIGHTS, run: by((endpoints: WhoopEndpoints, parts) => nightImport(whoopSource(endpoints), parts)) },
  foursquare: {
    noun: 'check-ins',
    counter: 'checkins_imported',
    isPolled: true,
    isRelooked: false,
    callClass: 'live',
    callsLeft: (stored: Partial<CheckinCursor>, course) => checkinCallsLeft({ ...course, cursor: beginCheckins(stored) }),
    run: by((endpoints: FoursquareEndpoints, parts) => checkinImport({ ...parts, endpoints })),
  },
}

export const runImporter = (open: OpenVendor, parts: ImporterParts, runParts: RunParts, job: ImportJob): Promise<Ending> =>
  importers[open.name].run(open.endpoints as never, parts)(runParts, job)

/** How many the import has brought so far. */
export const importedBy = ({ vendor, cursor }: Pick<ImportJob, 'vendor' | 'cursor'>): number =>
  Number(cursor[importers[vendor].counter] ?? 0)
