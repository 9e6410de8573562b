// The codes, access tokens and refresh tokens of one vendor, and whose data each opens. How long they live and what a refresh
// does to the old ones is the vendor's policy. How they look on the wire is in each vendor's oauth.ts.
import { createHash } from 'node:crypto'
import type { Clock } from '../kernel/clock.ts'
import type { Random } from '../kernel/random.ts'
import type { Athlete } from './world/athletes.ts'
import { hexOf } from './world/keyed-random.ts'

interface GrantPolicy {
  /** Infinity: the access token never expires. */
  readonly accessMs: number
  readonly refreshMs: number
  /** While an access token lives longer than this, a refresh returns the same tokens. */
  readonly reuseAboveMs?: number
  /** Whether the old access token still works after a refresh. */
  readonly keepsOldAccess: boolean
}

export interface Consent {
  readonly client: string
  readonly athlete: Athlete
  readonly scopes: readonly string[]
  readonly redirectUri: string
  readonly challenge?: string
  readonly challengeMethod?: string
}

export interface Grant {
  readonly client: string
  readonly athlete: Athlete
  readonly scopes: ReadonlySet<string>
  /** When the athlete consented. */
  readonly openedAt: number
  accessToken: string
  accessExpiresAt: number
  refreshToken: string
  refreshExpiresAt: number
}

/** Real time, like the page on which a person consents, also where the vendors' time runs faster. */
const CODE_MS = 10 * 60_000

export class Grants {
  readonly #codes = new Map<string, Consent & { readonly expiresAt: number }>()
  readonly #byAccess = new Map<string, { readonly grant: Grant; readonly expiresAt: number }>()
  readonly #byRefresh = new Map<string, Grant>()

  readonly #clock: Clock
  readonly #random: Random
  readonly #policy: GrantPolicy

  constructor(clock: Clock, random: Random, policy: GrantPolicy) {
    this.#clock = clock
    this.#random = random
    this.#policy = policy
  }

  code(consent: Consent): string {
    const code = hexOf(this.#random, 20)
    this.#codes.set(code, { ...consent, expiresAt: this.#clock.now() + CODE_MS * this.#clock.speed })
    return code
  }

  /** A code works once, even if what follows fails. */
  redeem(code: string): Consent | undefined {
    const consent = this.#codes.get(code)
    this.#codes.delete(code)
    return consent !== undefined && consent.expiresAt > this.#clock.now() ? consent : undefined
  }

  /** A new consent replaces the grant that the application already had from the athlete. */
  open(consent: Pick<Consent, 'client' | 'athlete' | 'scopes'>): Grant {
    for (const old of this.of(consent.athlete)) if (old.client === consent.client) this.revoke(old)
    const grant: Grant = {
      client: consent.client,
      athlete: consent.athlete,
      scopes: new Set(consent.scopes),
      openedAt: this.#clock.now(),
      accessToken: '',
      accessExpiresAt: 0,
      refreshToken: '',
      refreshExpiresAt: 0,
    }
    this.#renew(grant)
    return grant
  }

  refresh(token: string, client: string): Grant | undefined {
    const now = this.#clock.now()
    const grant = this.#byRefresh.get(token)
    if (grant === undefined || grant.client !== client || grant.refreshExpiresAt <= now) return undefined
    if (grant.accessExpiresAt - now > (this.#policy.reuseAboveMs ?? Infinity)) return grant
    this.#byRefresh.delete(token)
    if (!this.#policy.keepsOldAccess) this.#byAccess.delete(grant.accessToken)
    this.#renew(grant)
    return grant
  }

  #renew(grant: Grant): void {
    const now = this.#clock.now()
    grant.accessToken = hexOf(this.#random, 20)
    grant.accessExpiresAt = now + this.#policy.accessMs
    grant.refreshToken = hexOf(this.#random, 20)
    grant.refreshExpiresAt = now + this.#policy.refreshMs
    this.#byAccess.set(grant.accessToken, { grant, expiresAt: grant.accessExpiresAt })
    this.#byRefresh.set(grant.refreshToken, grant)
  }

  byAccess(token: string): Grant | undefined {
    const held = this.#byAccess.get(token)
    return held !== undefined && held.expiresAt > this.#clock.now() ? held.grant : undefined
  }

  /** By an access or a refresh token: a revocation takes either. */
  byAnyToken(token: string): Grant | undefined {
    return this.#byAccess.get(token)?.grant ?? this.#byRefresh.get(token)
  }

  of(athlete: Athlete): Grant[] {
    return [...this.#byRefresh.values()].filter(grant => grant.athlete.id === athlete.id)
  }

  revoke(grant: Grant): void {
    for (const [token, held] of this.#byAccess) if (held.grant === grant) this.#byAccess.delete(token)
    this.#byRefresh.delete(grant.refreshToken)
  }

  /** For tests: expires every access token. Refresh tokens still work. */
  expireAccess(): void {
    this.#byAccess.clear()
    const now = this.#clock.now()
    for (const grant of this.#byRefresh.values()) grant.accessExpiresAt = now
  }
}

export const bearerOf = (headers: Headers): string =>
  /^bearer\s+(.+)$/i.exec(headers.get('authorization') ?? '')?.[1]?.trim() ?? ''

/** PKCE, S256 or plain. A consent without a challenge needs no verifier. */
export function provesChallenge(consent: Consent, verifier: string): boolean {
  if (consent.challenge === undefined) return true
  const shown = consent.challengeMethod === 'plain' ? verifier : createHash('sha256').update(verifier).digest('base64url')
  return shown === consent.challenge
}
