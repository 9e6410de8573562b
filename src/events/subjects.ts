// What can be told, by subject, and what a consumer is given with it: ids, and the fields without which it would have to ask.

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

export interface Payloads {
  'athlete-ally.activity.imported': ActivityImported
  'athlete-ally.activity.deleted': ActivityDeleted
}

export type Subject = keyof Payloads

/** A subject with its own payload. */
export type Event = { [S in Subject]: { readonly subject: S; readonly payload: Payloads[S] } }[Subject]
