// The steps of an importer as a table sees them: what is requested, and what becomes of an answer. No database, no vendor.
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { Answer, NoValue } from '../src/imports/answers.ts'
import type { Change, State, Step } from '../src/imports/steps.ts'
import { openVendor, type VendorName } from '../src/vendors/vendors.ts'

const BASE_URL = 'http://vendor.test'

export const NOW = Date.UTC(2026, 2, 10, 12)
/** In epoch seconds. */
export const NOON = NOW / 1000

export const endpointsOf = <N extends VendorName>(name: N): ReturnType<typeof openVendor<N>>['endpoints'] =>
  openVendor(name, { clientId: '1', clientSecret: 's', baseUrl: BASE_URL }).endpoints

/** A full import that began now, of which everything is kept. */
export const IMPORT = {
  now: NOW,
  startedAt: NOW,
  since: undefined,
  cutoff: undefined,
  total: undefined,
} satisfies Partial<State<unknown, unknown>>

export const value = <T>(value: T) => ({ kind: 'value', value }) as const
export const GONE: NoValue = { kind: 'gone' }
export const UNAVAILABLE: NoValue = { kind: 'trouble', reason: 'it answers 503' }
export const broken = (reason: string, more: { status?: number; missingScope?: string } = {}): NoValue => ({
  kind: 'broken',
  reason,
  ...more,
})

/** The request with its class, or the kind of a step without one. */
export const lineOf = (step: Step<unknown, unknown>): string =>
  step.kind === 'request' ? `${step.callClass} ${step.request.url.replace(BASE_URL, '')}` : step.kind

/** What is saved after the answer, or without one where the step has nothing to ask for. */
export function changeOf<C, W>(step: Step<C, W>, answer?: Answer<unknown>): Change<C, W> {
  assert(step.kind !== 'done', 'an import that is done changes nothing')
  if (step.kind === 'change') return step.change
  assert(answer, `${step.request.url} needs an answer`)
  return step.apply(answer as Answer<never>)
}

/** The fields of a cursor that are not as they were. */
export const moved = (from: object, to: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(to).filter(([field, now]) => !isDeepStrictEqual(now, Reflect.get(from, field))))

export const paused = (ms: number, cause = 'vendor') => ({ ending: 'paused', retryAt: NOW + ms, cause })
export const refusal = (sentence: string) => ({ ending: 'failed', code: 'PACE_VENDOR_REFUSED', sentence })
