// Garmin's notifications: many athletes and several lists in one body, each entry either the data (push) or where it lies
// (ping). The only proof is a header with our client id, so a callback to another host is refused here.
import { z } from 'zod'
import { parseJson } from '../json.ts'
import { entries, id, readValue, text, optional, whole, words, type Broken, type Value } from '../shapes.ts'
import type { Site } from '../site.ts'
import {
  isSame,
  NO_HANDSHAKE,
  proven,
  refused,
  type Delivery,
  type Events,
  type Proof,
  type WebhookEvent,
  type Webhooks,
} from '../webhooks.ts'
import { isOurs } from './endpoints.ts'
import { isSummaryType, mapped, readSummary, SUMMARY_TYPES, type SummaryType } from './summaries.ts'

const ping = z.object({ userId: id, callbackURL: text })
const deregistration = z.object({ userId: id })
const permissionsChange = z.object({ userId: id, permissions: words, changeTimeInSeconds: optional(whole) })

type ReadEntry = (entry: unknown, site: Site) => Value<WebhookEvent>

const readDeregistration: ReadEntry = entry =>
  mapped(readValue(deregistration, entry), ({ userId }) => ({ kind: 'deauthorised', owner: userId }))

const readPermissions: ReadEntry = entry =>
  mapped(readValue(permissionsChange, entry), ({ userId, permissions, changeTimeInSeconds }) => ({
    kind: 'permissions',
    owner: userId,
    permissions,
    at: typeof changeTimeInSeconds === 'number' ? changeTimeInSeconds * 1000 : undefined,
  }))

const isPing = (entry: unknown): boolean => typeof entry === 'object' && entry !== null && 'callbackURL' in entry

const readSummaryEntry =
  (type: SummaryType): ReadEntry =>
  (entry, site) => {
    const dataKind = SUMMARY_TYPES[type]
    if (isPing(entry)) return readPing(dataKind, entry, site)
    return mapped(readSummary(dataKind, entry), found => ({
      kind: 'delivered',
      owner: found.summary.userId,
      objectId: found.summary.summaryId,
      ...found,
    }))
  }

function readPing(dataKind: (typeof SUMMARY_TYPES)[SummaryType], entry: unknown, site: Site): Value<WebhookEvent> {
  const reading = readValue(ping, entry)
  if (reading.outcome !== 'ok') return reading
  const { userId, callbackURL } = reading.value
  if (!isOurs(site, callbackURL)) return { outcome: 'malformed', reason: 'a callback to another host' }
  return { outcome: 'ok', value: { kind: 'announced', owner: userId, dataKind, callbackUrl: callbackURL } }
}

function readerOf(key: string): ReadEntry | undefined {
  if (key === 'deregistrations') return readDeregistration
  if (key === 'userPermissionsChange') return readPermissions
  return isSummaryType(key) ? readSummaryEntry(key) : undefined
}

function read(body: Uint8Array, site: Site): Events {
  const parsed = parseJson(body)
  if (parsed.outcome !== 'ok') return parsed
  const lists = readValue(z.record(text, z.unknown()), parsed.value)
  if (lists.outcome !== 'ok') return { outcome: 'malformed', reason: 'not an object of lists' }
  const events: WebhookEvent[] = []
  const broken: Broken[] = []
  for (const [key, list] of Object.entries(lists.value)) {
    for (const reading of readList(key, list, site)) {
      if (reading.outcome === 'ok') events.push(reading.value)
      else broken.push({ id: undefined, reason: `${key}: ${reading.reason}`.slice(0, 200) })
    }
  }
  return { outcome: 'ok', events, broken }
}

function readList(key: string, list: unknown, site: Site): readonly Value<WebhookEvent>[] {
  const readEntry = readerOf(key)
  if (readEntry === undefined) return [{ outcome: 'ok', value: { kind: 'other', type: key.slice(0, 100) } }]
  const found = readValue(entries, list)
  return found.outcome === 'ok' ? found.value.map(entry => readEntry(entry, site)) : [found]
}

export function webhooksOf(site: Site): Webhooks {
  const proveHeaders = (headers: Delivery['headers']): Proof =>
    isSame(site.credentials.clientId, headers['garmin-client-id']) ? proven : refused('not our client id')
  return {
    handshake: () => NO_HANDSHAKE,
    proveHeaders,
    prove: ({ headers }) => proveHeaders(headers),
    read: body => read(body, site),
  }
}
