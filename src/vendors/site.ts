// Builds URLs and requests. A base URL from the configuration replaces every host of the vendor and keeps the paths, so that a
// simulator or a proxy stands in for all of them at once.
import assert from 'node:assert/strict'
import type { Facts } from './facts.ts'
import type { Read } from './shapes.ts'
import type { Charge, Credentials, Method, VendorRequest } from './vendor.ts'

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

export interface Site {
  readonly facts: Facts
  readonly credentials: Credentials
  url(host: keyof Facts['hosts'], path: string, query?: Query): string
}

export interface Ask<T> {
  readonly endpoint: string
  readonly url: string
  readonly read: Read<T>
  readonly method?: Method
  readonly cost?: readonly Charge[]
  readonly authorised?: boolean
  readonly idempotent?: boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly form?: Query
  readonly json?: object
}

export const siteOf = (facts: Facts, credentials: Credentials): Site => ({
  facts,
  credentials,
  url: (host, path, query = {}) => {
    const base = (credentials.baseUrl ?? facts.hosts[host]).replace(/\/+$/, '')
    const search = formOf(query)
    return search === '' ? base + path : `${base}${path}?${search}`
  },
})

function formOf(fields: Query): string {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.append(name, String(value))
  return form.toString()
}

/** Standard for a data call: an authorised GET that may be repeated. Everything else is said by the caller. */
export function requestOf<T>(site: Site, ask: Ask<T>): VendorRequest<T> {
  const method = ask.method ?? 'GET'
  const body = ask.form === undefined ? ask.json && JSON.stringify(ask.json) : formOf(ask.form)
  return {
    vendor: site.facts.name,
    endpoint: ask.endpoint,
    method,
    url: ask.url,
    headers: { accept: 'application/json', ...contentType(ask), ...ask.headers },
    ...(body === undefined ? {} : { body }),
    authorised: ask.authorised ?? true,
    idempotent: ask.idempotent ?? method === 'GET',
    cost: ask.cost ?? [],
    read: ask.read,
  }
}

function contentType({ form, json }: Ask<unknown>): Record<string, string> {
  if (form !== undefined) return { 'content-type': 'application/x-www-form-urlencoded' }
  return json === undefined ? {} : { 'content-type': 'application/json' }
}

/** A segment of a path. Ids come through the shapes; one that could climb out of its segment is a mistake of ours. */
export function segment(id: string): string {
  assert(/^\w[\w.:-]*$/.test(id), 'not an id')
  return encodeURIComponent(id)
}
