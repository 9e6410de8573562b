// Finds the route of a request and reads its body once. A route is data (vendor, method, template, who may call it), so a check
// can list all of them. What a route does is up to the vendor.
import type { Answer } from './answer.ts'
import type { Grant } from './grants.ts'

export type VendorName = 'strava' | 'garmin' | 'oura' | 'whoop' | 'foursquare'
export const VENDORS: readonly VendorName[] = ['strava', 'garmin', 'oura', 'whoop', 'foursquare']

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * `open`: no token and no limit. `app`: the application's own credentials. A list: one of these scopes, or with none any token.
 */
export type Access = 'open' | 'app' | readonly string[]

export interface Call {
  readonly method: string
  readonly url: URL
  /** The path as the vendor itself would see it, without the simulator's prefix. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Headers
  readonly params: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, unknown>>
  readonly text: string
  readonly signal: AbortSignal
}

export interface Route {
  readonly vendor: VendorName
  readonly method: Method
  readonly template: string
  readonly access: Access
  /** There is a grant on every route that is neither `open` nor `app`. */
  handle(call: Call, grant: Grant | undefined): Answer | Promise<Answer>
}

export interface Found<R> {
  readonly route: R
  readonly params: Readonly<Record<string, string>>
}

/** The first route whose template fits. `{name}` stands for one part of the path. */
export function findRoute<R extends { method: Method; template: string }>(
  routes: readonly R[],
  method: string,
  path: string,
): Found<R> | undefined {
  for (const route of routes) {
    const params = route.method === method ? matchTemplate(route.template, path) : undefined
    if (params !== undefined) return { route, params }
  }
  return undefined
}

export function matchTemplate(template: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [template.split('/'), path.split('/')]
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, segment] of wanted.entries()) {
    const actual = given[index] ?? ''
    if (segment.startsWith('{')) params[segment.slice(1, -1)] = decodeURIComponentSafely(actual)
    else if (segment !== actual) return undefined
  }
  return params
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}

/** The fields of a body: JSON object, form or multipart. Any other body has no fields. */
export async function readFields(request: Request): Promise<{ text: string; fields: Record<string, unknown> }> {
  const type = request.headers.get('content-type') ?? ''
  if (request.body === null) return { text: '', fields: {} }
  if (type.startsWith('multipart/form-data')) {
    // Broken multipart has no fields, as broken JSON has none.
    const form = await request.formData().catch(() => new FormData())
    return { text: '', fields: Object.fromEntries(form.entries()) }
  }
  const text = await request.text()
  if (type.startsWith('application/x-www-form-urlencoded')) return { text, fields: formFields(text) }
  return { text, fields: jsonFields(text) }
}

/** A field given more than once is a list. */
function formFields(text: string): Record<string, unknown> {
  const form = new URLSearchParams(text)
  return Object.fromEntries(
    [...new Set(form.keys())].map(key => {
      const values = form.getAll(key)
      return [key, values.length === 1 ? values[0] : values]
    }),
  )
}

function jsonFields(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value)) return { items: value }
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

/** A field as text; a missing one is empty. */
export function textOf(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}
