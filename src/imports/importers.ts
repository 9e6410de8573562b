// Which importer fetches a vendor's history, and what it gets for it.
import type { Activities } from '../activities/activities.ts'
import type { SleepIngest } from '../sleep/sleep.ts'
import type {
  FoursquareEndpoints,
  GarminEndpoints,
  OpenVendor,
  OuraEndpoints,
  StravaEndpoints,
  VendorName,
  WhoopEndpoints,
} from '../vendors/vendors.ts'
import { checkinImport } from './checkin-import.ts'
import { garminImport } from './garmin-import.ts'
import { nightImport } from './night-import.ts'
import { ouraSource, whoopSource } from './night-steps.ts'
import { Run, type Ending, type RunParts } from './run.ts'
import type { ImportJob } from './job-store.ts'
import type { BaseCursor, Counter, Importer } from './steps.ts'
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
  readonly run: (endpoints: never, parts: ImporterParts) => (runParts: RunParts, job: ImportJob) => Promise<Ending>
}

const by =
  <E, C extends BaseCursor, R, W>(importer: (endpoints: E, parts: ImporterParts) => Importer<C, R, W>) =>
  (endpoints: E, parts: ImporterParts) =>
  (runParts: RunParts, job: ImportJob): Promise<Ending> =>
    new Run(runParts, job, importer(endpoints, parts)).visit()

const ACTIVITIES = { noun: 'activities', counter: 'activities_imported' } as const
const NIGHTS = { noun: 'nights', counter: 'nights_imported', isPolled: true, isRelooked: false } as const

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
    run: by((endpoints: GarminEndpoints, parts) => garminImport({ ...parts, endpoints })),
  },
  oura: { ...NIGHTS, run: by((endpoints: OuraEndpoints, parts) => nightImport(ouraSource(endpoints), parts)) },
  whoop: { ...NIGHTS, run: by((endpoints: WhoopEndpoints, parts) => nightImport(whoopSource(endpoints), parts)) },
  foursquare: {
    noun: 'check-ins',
    counter: 'checkins_imported',
    isPolled: true,
    isRelooked: false,
    run: by((endpoints: FoursquareEndpoints, parts) => checkinImport({ ...parts, endpoints })),
  },
}

export const runImporter = (open: OpenVendor, parts: ImporterParts, runParts: RunParts, job: ImportJob): Promise<Ending> =>
  importers[open.name].run(open.endpoints as never, parts)(runParts, job)

/** How many the import has brought so far. */
export const importedBy = ({ vendor, cursor }: Pick<ImportJob, 'vendor' | 'cursor'>): number =>
  Number(cursor[importers[vendor].counter] ?? 0)
