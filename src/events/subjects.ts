// The events by subject, and their payloads: ids, and the fields that a consumer would otherwise have to request.

export interface ActivityImported {
  readonly activityId: string
  readonly athleteId: string
  readonly vendor: string
  readonly externalId: string
  readonly name: string
  readonly sport: string
  /** ISO, UTC. */
  readonly start: string
}

export interface ActivityDeleted {
  readonly activityId: string
  readonly athleteId: string
  readonly vendor: string
  readonly externalId: string
}

/** A night as the vendor sent it, not yet normalised. */
export interface SleepRawReceived {
  readonly eventId: string
  readonly payload: {
    readonly userId: string
    /** YYYY-MM-DD. */
    readonly date: string
    readonly durationMinutes: number
    /** ISO, UTC. */
    readonly capturedAt?: string
    /** The vendor's own fields; `source` names the vendor. */
    readonly raw?: Readonly<Record<string, unknown>>
  }
}

/** The night that counts of a person's day, after it was stored. */
export interface SleepNormalizedStored {
  readonly record: {
    readonly userId: string
    /** YYYY-MM-DD. */
    readonly date: string
    readonly durationMinutes: number
    /** 0 to 100. */
    readonly qualityScore?: number
    readonly vendor: string
    /** ISO, UTC. */
    readonly capturedAt: string
  }
}

export interface StreamsStored {
  readonly activityId: string
  readonly athleteId: string
  readonly vendor: string
  readonly externalId: string
  /** Of the activity; ISO, UTC. */
  readonly start: string
  readonly channels: readonly string[]
  readonly pointCount: number
}

export interface Payloads {
  'athlete-ally.activity.imported': ActivityImported
  'athlete-ally.activity.deleted': ActivityDeleted
  'athlete-ally.sleep.raw-received': SleepRawReceived
  'athlete-ally.sleep.normalized-stored': SleepNormalizedStored
  'athlete-ally.activity.streams-stored': StreamsStored
}

export type Subject = keyof Payloads

/** The subject as a label: `sleep_raw_received`. */
export const topicOf = (subject: string): string => subject.replace(/^athlete-ally\./, '').replaceAll(/[.-]/g, '_')

/** A subject with its payload. `id`: given when the payload contains it, else generated. */
export type Event = { [S in Subject]: { readonly id?: string; readonly subject: S; readonly payload: Payloads[S] } }[Subject]
