// The SQL of connections, shared by connections, consents, tokens and erasure.
import { loadQueries } from '../db/db.ts'

export const connectionSql = loadQueries(new URL('connection-store.sql', import.meta.url), {
  connect: ['id', 'athleteId', 'vendor', 'vendorAthleteId', 'scopes', 'accessToken', 'accessExpiresAt', 'refreshToken', 'now'],
  list: ['athleteId'],
  read: ['id'],
  idOf: ['athleteId', 'vendor'],
  ofVendorAthlete: ['vendor', 'vendorAthleteId'],
  active: ['vendor'],
  firstLooks: ['now', 'limit'],
  laterLooks: ['vendors', 'now', 'limit'],
  moveLooks: ['ids', 'readAt', 'nextAt', 'tries'],
  heard: ['vendor', 'vendorAthleteId', 'now'],
  synced: ['athleteId', 'vendor', 'at', 'heardSince', 'everyMs'],
  claimRefresh: ['id', 'version', 'now', 'leaseUntil'],
  saveRefresh: ['id', 'epoch', 'accessToken', 'accessExpiresAt', 'refreshToken'],
  releaseRefresh: ['id', 'epoch'],
  needsReauth: ['id', 'version'],
  remove: ['athleteId', 'vendor'],
  createReceipt: ['id', 'athleteId', 'vendor', 'cause', 'counts', 'deletedAt'],
  listReceipts: ['athleteId', 'after', 'limit'],
})
