// How far an import has come, stored in `import_jobs.sync_cursor`. A kill at any point leaves a cursor that the next run can go on from.
export interface Cursor {
  /** Start of the oldest activity listed, or of the oldest range read, in epoch seconds: the next page or range ends there. */
  readonly before?: number
  /** Where the walk back to `before` began, in epoch seconds: the start of the import, or of the failed one that it goes on from. */
  readonly from?: number
  readonly activities_imported: number
  readonly photos_imported: number
  readonly last_activity_id?: string
  readonly phase: Phase
  /** The page number, used where `before` cannot move on because all entries of a page began in the same second. */
  readonly page: number
  /** Activities whose detail failed in a way that may pass: requested once more at the end. */
  readonly later: readonly string[]
  /** Activities that a later look at the list showed as changed: their details are requested again. */
  readonly changed: readonly string[]
  /** Activities whose photos could not be fetched, and those of them that are requested once more at the end. */
  readonly withoutPhotos: readonly string[]
  readonly laterPhotos: readonly string[]
  /** Failures in a row. */
  readonly trouble: number
  /** Runs in a row that ended with a fault of ours. */
  readonly faults: number
  /** When the newest page of the list was last read, in epoch seconds. */
  readonly listedAt?: number
  /** The ids that an incremental list showed; an activity missing among them may be deleted. */
  readonly seen: readonly string[]
  /** Garmin: the range after `from` that is being requested: where it ends, and which type is next. */
  readonly gap?: { readonly to: number; readonly page: number } | undefined
  /** Garmin: whether any request was granted; false while Garmin only says that it has sent the data before. */
  readonly granted?: boolean
  /** Garmin: the number of activities here when the import began. */
  readonly known?: number
  /** Garmin: the number of activities here at the last look. Nights: how many the vendor gave, known or not. */
  readonly heard?: number
}

/** In this order, as far as a vendor has them. `again` requests once more what was missed; `push` waits for what the vendor sends. */
export type Phase = 'list' | 'details' | 'photos' | 'again' | 'push'

const START: Cursor = {
  activities_imported: 0,
  photos_imported: 0,
  phase: 'list',
  page: 1,
  later: [],
  changed: [],
  withoutPhotos: [],
  laterPhotos: [],
  trouble: 0,
  faults: 0,
  seen: [],
}

export const readCursor = (stored: Partial<Cursor>): Cursor => ({ ...START, ...stored })

export interface Problem {
  readonly externalId: string
  readonly reason: string
}
