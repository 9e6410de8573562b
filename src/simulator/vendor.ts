// What a simulated vendor is to the rest of the simulator: its routes, how it admits a call, and how it words its refusals. The
// folder that bears the vendor's name implements it.
import type { Answer } from './answer.ts'
import type { Grant, Grants } from './grants.ts'
import type { Call, Route, VendorName } from './router.ts'
import type { Athlete } from './world/athletes.ts'

export type Admission =
  | { readonly outcome: 'refused'; readonly answer: Answer }
  | { readonly outcome: 'admitted'; readonly grant?: Grant; headersFor(answer: Answer): Readonly<Record<string, string>> }

export interface Vendor {
  readonly name: VendorName
  readonly grants: Grants
  readonly routes: readonly Route[]
  /** Checks token, scope and limit, in the vendor's own order and words. */
  admit(call: Call, route: Route): Admission
  /** The answer to a call that is over the limit, for the fault `429`. */
  overLimit(call: Call): Answer
  failure(status: number): Answer
  notFound(call: Call): Answer
  /** The answer to every API call while the application is switched off, for the fault `inactive`. Only Strava has one. */
  inactive?(): Answer
  /** The athlete withdraws consent on the vendor's own site. */
  deauthorise(athlete: Athlete): void
}

/** For answers without rate-limit headers. */
export const noHeaders = (): Readonly<Record<string, string>> => ({})
