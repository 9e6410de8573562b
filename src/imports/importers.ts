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
import { CheckinImport } from './checkin-import.ts'
import type { Ending } from './fetching.ts'
import { GarminImport } from './garmin-import.ts'
import { importNights, readOura, readWhoop } from './night-import.ts'
import type { Run } from './run.ts'
import { StravaImport } from './strava-import.ts'

interface ImporterParts {
  readonly activities: Activities
  readonly ingest: SleepIngest
  readonly onNews: (athleteId: string, vendor: VendorName, externalIds: readonly string[]) => Promise<void>
}

export async function runImporter(run: Run, { name, endpoints }: OpenVendor, parts: ImporterParts): Promise<Ending> {
  const { activities, ingest, onNews } = parts
  const importers: Record<VendorName, () => Promise<Ending>> = {
    strava: () => new StravaImport(run, { activities, onNews, endpoints: endpoints as StravaEndpoints }).run(),
    garmin: () => new GarminImport(run, { activities, endpoints: endpoints as GarminEndpoints }).run(),
    foursquare: () => new CheckinImport(run, { activities, endpoints: endpoints as FoursquareEndpoints }).run(),
    oura: () => importNights(run, ingest, readOura(endpoints as OuraEndpoints)),
    whoop: () => importNights(run, ingest, readWhoop(endpoints as WhoopEndpoints)),
  }
  return await importers[name]()
}

/** All but Garmin, which pushes new data by itself. */
export const POLLED: readonly VendorName[] = ['strava', 'oura', 'whoop', 'foursquare']

/** What an import of this vendor counts. */
export const NOUNS: Readonly<Record<VendorName, string>> = {
  strava: 'activities',
  garmin: 'activities',
  oura: 'nights',
  whoop: 'nights',
  foursquare: 'check-ins',
}
