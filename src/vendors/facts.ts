// The shape of a vendor's facts: frozen data that accounts/, quota/, imports/ and http/ read. What the public documents do not
// say is `unknown` here, so that each reader decides how careful to be. What only a person needs to know is a comment beside the
// vendor's code.
export const vendorNames = ['strava', 'garmin', 'oura', 'whoop', 'foursquare'] as const
export type VendorName = (typeof vendorNames)[number]

/** When a window begins: on the clock's quarters, at midnight UTC, at every instant (it rolls), or the vendor does not say. */
type Alignment = 'clock-quarter' | 'midnight-utc' | 'rolling' | 'unknown'

/** As `GET /v1/quota` names them. */
export const windowNames = ['minute', '5min', '15min', 'hour', 'day'] as const

export interface Window {
  readonly name: (typeof windowNames)[number]
  readonly seconds: number
  /** Until the vendor's headers or the configuration say otherwise. */
  readonly limit: number
  readonly alignment: Alignment
}

export interface Pool {
  readonly name: string
  /** Shared by all athletes of the application, or each token's own. */
  readonly scope: 'app' | 'token'
  readonly unit: 'requests' | 'days'
  readonly windows: readonly Window[]
}

interface Scopes {
  readonly separator: ',' | ' '
  readonly default: readonly string[]
  /** Asked for in addition when the athlete lets us write. */
  readonly write: readonly string[]
  /** A scope that contains others: having it is having them. */
  readonly implied: Readonly<Record<string, readonly string[]>>
}

export interface Facts {
  readonly name: VendorName
  readonly title: string
  readonly hosts: { readonly authorise: string; readonly token: string; readonly api: string }
  readonly scopes: Scopes
  readonly pools: readonly Pool[]
  /** What an import does when the budget is used up: wait for the window, or end with an error. */
  readonly whenSpent: 'resume' | 'fail'
  /** Undefined where the vendor sends no webhooks. */
  readonly webhook: { readonly answerWithinMs: number; readonly bodyLimitBytes: number } | undefined
}

export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) frozen(member)
    Object.freeze(value)
  }
  return value
}

const withImplied = (scopes: Scopes, granted: readonly string[]): Set<string> =>
  new Set(granted.flatMap(scope => [scope, ...(scopes.implied[scope] ?? [])]))

/** What the granted scopes let us read, implied ones included: with others a history looks different. */
export const readingScopes = ({ scopes }: Facts, granted: readonly string[]): string[] =>
  [...withImplied(scopes, granted)].filter(scope => !scopes.write.includes(scope)).toSorted()

export const neededScopes = ({ scopes }: Facts, { write = false } = {}): readonly string[] =>
  write ? [...scopes.default, ...scopes.write] : scopes.default

/** What the athlete unticked: shown to them before a call finds out. */
export function missingScopes(facts: Facts, granted: readonly string[], ask: { write?: boolean } = {}): string[] {
  const has = withImplied(facts.scopes, granted)
  return neededScopes(facts, ask).filter(scope => !has.has(scope))
}
