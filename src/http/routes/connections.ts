// The athlete's connections to vendors: where to consent, what was granted, disconnecting, and the receipts of what was deleted.
import { z } from 'zod'
import { PacelineError } from '../../kernel/errors.ts'
import { vendorNames } from '../../vendors/vendors.ts'
import { CONNECTION_STATUSES, type Connection, type Receipt } from '../../accounts/accounts.ts'
import { errorAnswer, id, instant, listOf, pageAsked, pageOf } from '../answers.ts'
import type { App, HttpParts } from '../app.ts'

const vendor = z.enum(vendorNames)
const vendorInPath = z.object({ vendor })
const connection = z.object({
  vendor,
  status: z.enum(CONNECTION_STATUSES),
  scopes: z.array(z.string()).describe('Permissions that the athlete granted'),
  missingScopes: z.array(z.string()).describe('Permissions that Paceline needs and the athlete did not grant'),
  vendorAthleteId: z.string(),
  connectedAt: instant,
  lastSyncAt: instant.nullable(),
})
const receipt = z.object({ id, vendor, deletedAt: instant, counts: z.record(z.string(), z.number()) })

const config = { audience: 'athlete' } as const
const tags = ['athlete']

export function connectionRoutes(app: App, parts: HttpParts): void {
  startRoute(app, parts)
  disconnectRoutes(app, parts)
  const list = { summary: 'My connections to vendors', tags, response: { 200: listOf(connection) } }
  app.get('/v1/connections', { config, schema: list }, async request => ({
    items: (await parts.connections.list(request.athleteId)).map(connectionAnswer),
    nextCursor: null,
  }))
}

function startRoute(app: App, { connections }: HttpParts): void {
  const start = {
    summary: 'Connect a vendor; gives the address where the athlete consents',
    tags,
    params: vendorInPath,
    body: z.object({ write: z.boolean().optional().describe('Also ask for permission to write') }).nullish(),
    response: { 200: z.object({ authorizeUrl: z.url() }), 400: errorAnswer, 404: errorAnswer },
  }
  app.post('/v1/connections/:vendor', { config, schema: start }, async request => {
    const { vendor: name } = request.params
    const authorizeUrl = await connections.start(request.athleteId, name, { write: request.body?.write ?? false })
    if (authorizeUrl !== undefined) return { authorizeUrl }
    throw new PacelineError(
      'PACE_VENDOR_UNKNOWN',
      `${name} cannot be connected, because the operator gave no credentials for it.`,
    )
  })
}

function disconnectRoutes(app: App, { erasure }: HttpParts): void {
  const part = {
    summary: "Disconnect a vendor: revokes the access there and deletes that vendor's data here",
    tags,
    params: vendorInPath,
    response: { 200: z.object({ receipt }), 404: errorAnswer },
  }
  app.delete('/v1/connections/:vendor', { config, schema: part }, async request => {
    const written = await erasure.disconnect(request.athleteId, request.params.vendor)
    if (written === undefined) throw new PacelineError('PACE_NOT_FOUND', 'There is no such connection.')
    return { receipt: receiptAnswer(written) }
  })

  const list = {
    summary: 'Receipts of deleted data',
    tags,
    querystring: pageAsked,
    response: { 200: listOf(receipt), 400: errorAnswer },
  }
  app.get('/v1/receipts', { config, schema: list }, async request => {
    const { cursor, limit } = request.query
    const found = await erasure.receipts(request.athleteId, { after: cursor, limit: limit + 1 })
    return pageOf(found.map(receiptAnswer), limit)
  })
}

const connectionAnswer = ({
  vendor: name,
  status,
  scopes,
  missingScopes,
  vendorAthleteId,
  connectedAt,
  lastSyncAt,
}: Connection) => ({
  vendor: name,
  status,
  scopes: [...scopes],
  missingScopes: [...missingScopes],
  vendorAthleteId,
  connectedAt: connectedAt.toISOString(),
  lastSyncAt: lastSyncAt?.toISOString() ?? null,
})

const receiptAnswer = ({ id: receiptId, vendor: name, deletedAt, counts }: Receipt) => ({
  id: receiptId,
  vendor: name,
  deletedAt: deletedAt.toISOString(),
  counts: { ...counts },
})
