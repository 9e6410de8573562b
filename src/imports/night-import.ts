// What the steps of an import of nights store: the nights go to the same ingest as those of webhooks, which hands on the new and changed ones.
import type { Night, SleepIngest } from '../sleep/sleep.ts'
import { beginNights, nextNights, type NightCursor, type NightSource } from './night-steps.ts'
import type { Importer } from './steps.ts'

interface NightImportParts {
  readonly ingest: SleepIngest
  readonly athleteId: string
}

export const nightImport = (
  source: NightSource,
  { ingest, athleteId }: NightImportParts,
): Importer<NightCursor, undefined, readonly Night[]> => ({
  counter: 'nights_imported',
  begin: beginNights,
  read: () => Promise.resolve(undefined),
  next: state => nextNights(state, source),
  store: async (tx, nights, { cursor }) => {
    const fresh = await ingest.receive(tx, athleteId, nights)
    return { fresh, total: cursor.nights_imported + fresh }
  },
})
