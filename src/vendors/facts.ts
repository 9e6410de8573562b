// The shape of a vendor's facts: frozen data that quota/, imports/ and the pages read. What the public documents do not say is
// `unknown` here, so that the reader of a fact decides to be careful, not this room.
export const vendorNames = ['strava', 'garmin', 'oura', 'whoop', 'foursquare'] as const
export type VendorName = (typeof vendorNames)[number]

/** When a window begins anew: on the clock's quarters, at midnight UTC, never (it rolls), or nobody says. */
export type Alignment = 'clock-quarter' | 'midnight-utc' | 'rolling' | 'unknown'

export interface Window {
  /** As the quota page names it. */
  readonly name: 'minute' | '5min' | '15min' | 'hour' | 'day'
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

export type Delivers = 'activities' | 'streams' | 'photos' | 'sleep' | 'check-ins'

export interface Scopes {
  readonly separator: ',' | ' '
  readonly default: readonly string[]
  /** Asked for in addition when the athlete lets us write. */
  readonly write: readonly string[]
  /** A scope that contains others: having it is having them. */
  readonly implied: Readonly<Record<string, readonly string[]>>
  /** Where the truth about what was granted stands. */
  readonly grantedBy: 'callback' | 'grant' | 'permissions' | 'none'
}

export interface Facts {
  readonly name: VendorName
  readonly title: string
  readonly hosts: { readonly authorise: string; readonly token: string; readonly api: string }
  readonly auth: {
    readonly pkce: 'required' | 'accepted' | 'none'
    readonly refresh: 'rotates' | 'may-rotate' | 'none'
    /** Undefined: read it from the grant, or it does not expire. */
    readonly accessLifeSeconds: number | undefined
    readonly refreshLifeSeconds: number | undefined
    readonly quirk: string
  }
  readonly scopes: Scopes
  readonly delivers: readonly Delivers[]
  readonly pools: readonly Pool[]
  readonly overLimit: { readonly status: 429 | 403; readonly resetFrom: string; readonly countsWhenRefused: boolean }
  /** What an import does when the budget is used up: wait for the window, or end with an error. */
  readonly whenSpent: 'resume' | 'fail'
  readonly retention: string
  readonly webhook:
    | { readonly answerWithinMs: number; readonly retries: string; readonly proof: string; readonly bodyLimitBytes: number }
    | undefined
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

export const neededScopes = ({ scopes }: Facts, { write = false } = {}): readonly string[] =>
  write ? [...scopes.default, ...scopes.write] : scopes.default

/** What the athlete unticked: shown to them before a call finds out. */
export function missingScopes(facts: Facts, granted: readonly string[], ask: { write?: boolean } = {}): string[] {
  const has = withImplied(facts.scopes, granted)
  return neededScopes(facts, ask).filter(scope => !has.has(scope))
}
