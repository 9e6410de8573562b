// The SQL of connections, shared by connections, tokens and erasure.
import { loadQueries } from '../db/db.ts'

export const connectionSql = loadQueries(new URL('connection-store.sql', import.meta.url), [
  'createState',
  'useState',
  'pruneStates',
  'connect',
  'list',
  'read',
  'idOf',
  'ofVendorAthlete',
  'ofVendor',
  'active',
  'unsynced',
  'heard',
  'synced',
  'claimRefresh',
  'saveRefresh',
  'releaseRefresh',
  'needsReauth',
  'remove',
  'createReceipt',
  'listReceipts',
])
