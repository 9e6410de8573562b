// Where an import stands, as it is kept in `import_jobs.sync_cursor`. The first four names are the document's; the others are what the
// phases need. Every field has a meaning after a kill at any point.
export interface Cursor {
  /** Start of the oldest that was listed, or of the oldest range that was read, in epoch seconds: the next page or range ends there. */
  readonly before?: number
  /** Up to where `before` has been walked from, in epoch seconds: the start of the import, or of the failed one that it took over. */
  readonly from?: number
  readonly activities_imported: number
  readonly photos_imported: number
  readonly last_activity_id?: string
  readonly phase: Phase
  /** The page of a list that `before` does not move any more: its entries all began at the same second. */
  readonly page: number
  /** Details that failed in passing: asked once more at the end. */
  readonly later: readonly string[]
  /** Activities that a renewed list showed changed: their details are asked again. */
  readonly changed: readonly string[]
  /** Activities whose photos could not be had, and those of them that are asked once more at the end. */
  readonly withoutPhotos: readonly string[]
  readonly laterPhotos: readonly string[]
  /** Failures in a row. */
  readonly trouble: number
  /** Runs in a row that ended with a fault of ours. */
  readonly faults: number
  /** When the newest of the list were last read, in epoch seconds. */
  readonly listedAt?: number
  /** What an incremental list showed, for seeing deletions. */
  readonly seen: readonly string[]
  /** Garmin: the range above `from` that is being asked for: where it ends, and which type is next. */
  readonly gap?: { readonly to: number; readonly page: number } | undefined
  /** Garmin: whether anything that was asked for was granted; false when it only ever said that it had sent it before. */
  readonly granted?: boolean
  /** Garmin: activities that were here when the import began. */
  readonly known?: number
  /** Garmin: activities that were here at the last look. Nights: how many the vendor told of, known or not. */
  readonly heard?: number
}

/** In this order where a vendor has them; `again` looks once more for what was missed, `push` waits for what the vendor sends by itself. */
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
