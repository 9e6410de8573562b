// One request over the wire, read whole or not at all: bounded in size, and only ever to the host it was meant for.
import type { VendorRequest, VendorResponse } from '../vendors/vendors.ts'
import { hasCode, reasonOf } from '../kernel/errors.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** The result of one attempt. `sent` false: the request certainly never reached the vendor. */
export type WireResult =
  | { readonly kind: 'answer'; readonly response: VendorResponse }
  /** The signal aborted the wait: whether the request arrived is unknown. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'broken'; readonly reason: string; readonly sent: boolean }
  | { readonly kind: 'too_large'; readonly status: number }
  | { readonly kind: 'led_away'; readonly status: number; readonly host: string }

export async function send(
  fetch: Fetch,
  request: VendorRequest<unknown>,
  signal: AbortSignal,
  maxBytes: number,
): Promise<WireResult> {
  let response: Response
  try {
    response = await fetch(request.url, {
      method: request.method,
      headers: request.headers ?? {},
      body: request.body ?? null,
      redirect: 'manual',
      signal,
    })
  } catch (error) {
    if (signal.aborted) return { kind: 'silent' }
    return { kind: 'broken', reason: reasonOf(rootOf(error)), sent: !neverLeft(error) }
  }
  const away = leadsAway(response, request.url)
  if (away !== undefined) {
    await response.body?.cancel()
    return { kind: 'led_away', status: response.status, host: away }
  }
  return await readAll(response, signal, maxBytes)
}

async function readAll(response: Response, signal: AbortSignal, maxBytes: number): Promise<WireResult> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength
      // Leaving the loop cancels the rest of the body.
      if (size > maxBytes) return { kind: 'too_large', status: response.status }
      chunks.push(chunk)
    }
  } catch (error) {
    if (signal.aborted) return { kind: 'silent' }
    return { kind: 'broken', reason: reasonOf(rootOf(error)), sent: true }
  }
  const headers = Object.fromEntries(response.headers)
  return { kind: 'answer', response: { status: response.status, headers, body: Buffer.concat(chunks) } }
}

/** The host of a redirect; any redirect counts, since no vendor's API documents one. */
function leadsAway(response: Response, url: string): string | undefined {
  const location = response.headers.get('location')
  if (response.status < 300 || response.status > 399 || location === null) return undefined
  return URL.parse(location, url)?.host ?? 'nowhere'
}

const NEVER_LEFT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']

function neverLeft(error: unknown): boolean {
  const root = rootOf(error)
  if (root instanceof AggregateError) return root.errors.every(neverLeft)
  return NEVER_LEFT.some(code => hasCode(root, code))
}

/** fetch says "fetch failed"; what failed is its cause. */
const rootOf = (error: unknown): unknown => (error instanceof Error && error.cause !== undefined ? error.cause : error)
