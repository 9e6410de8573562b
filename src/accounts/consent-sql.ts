// The SQL of consents under way, shared by consents, their turns and erasure.
import { loadQueries } from '../db/db.ts'

export const consentSql = loadQueries(new URL('consent-store.sql', import.meta.url), {
  createState: ['stateHash', 'athleteId', 'vendor', 'codeVerifier', 'expiresAt'],
  useState: ['stateHash', 'vendor', 'now'],
  pruneStates: ['now'],
  takeTurn: ['athleteId', 'vendor', 'owner', 'leaseUntil', 'now'],
  holdTurn: ['athleteId', 'vendor', 'owner'],
  endTurn: ['athleteId', 'vendor', 'owner'],
  pruneTurns: ['now'],
  createPending: [
    'id',
    'vendor',
    'vendorAthleteId',
    'scopes',
    'sealedGrant',
    'grantedAt',
    'tokenHash',
    'browserHash',
    'expiresAt',
    'athleteId',
  ],
  readPending: ['tokenHash', 'browserHash', 'vendor', 'now'],
  takePending: ['id', 'now'],
  endPending: ['id', 'now'],
  endPendingsOf: ['now', 'athleteId', 'vendor'],
  expiredPendings: ['now', 'limit'],
  dropPending: ['id'],
  dropPendingOfAccount: ['vendor', 'vendorAthleteId'],
  accountInUse: ['vendor', 'vendorAthleteId', 'now'],
})
