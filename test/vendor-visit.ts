// An athlete's account at a vendor, as the simulator plays it: consent once, then ask. For rooms that want real answers and need no
// connection for them.
import assert from 'node:assert/strict'
import type { Simulator } from '../src/simulator/simulator.ts'
import type { VendorRequest } from '../src/vendors/vendors.ts'
import { consent } from './consent.ts'
import { simulatedVendor } from './rooms.ts'

const REDIRECT = 'http://paceline.test/callback'

export const strava = simulatedVendor('strava').endpoints
export const foursquare = simulatedVendor('foursquare').endpoints

export type Ask = <T>(request: VendorRequest<T>) => Promise<T>

/** Only vendors without PKCE are visited. */
export async function visit(simulator: Simulator, name: 'strava' | 'foursquare'): Promise<Ask> {
  const { oauth, facts } = simulatedVendor(name)
  const send = async <T>(request: VendorRequest<T>, more: Record<string, string>): Promise<T> => {
    const { url, method, headers, body = null } = request
    const answer = await simulator.fetch(url, { method, headers: { ...headers, ...more }, body })
    assert.equal(answer.status, 200, `${method} ${request.endpoint}`)
    const reading = request.read({ status: 200, headers: {}, body: new Uint8Array(await answer.arrayBuffer()) })
    assert(reading.outcome === 'ok', JSON.stringify(reading))
    return reading.value
  }
  const page = oauth.authoriseUrl({ redirectUri: REDIRECT, state: 'x', scopes: facts.scopes.default })
  const back = await consent((url, init) => simulator.fetch(url, init), page)
  const grant = await send(oauth.exchange({ code: back.searchParams.get('code') ?? '', redirectUri: REDIRECT }), {})
  return async request => await send(request, { authorization: `Bearer ${grant.accessToken}` })
}
