import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { NOW } from '../../test/steps.ts'
import type { AuthorisedOutcome } from '../accounts/accounts.ts'
import { answerOf } from './answers.ts'

describe('what an outcome means for an import', () => {
  const later = NOW + 1_000
  const refusal = { pool: 'read', window: 'day', cause: 'reserve', resetAt: later } as const
  const needsConsent = {
    ending: 'failed',
    code: 'PACE_NEEDS_REAUTH',
    sentence: 'Strava needs a new consent; connect it again.',
  }
  const rows: [name: string, outcome: AuthorisedOutcome<number>, answer: object][] = [
    ['a value is handed on', { outcome: 'ok', value: 0 }, { kind: 'value', value: 0 }],
    ['a thing that is absent is gone', { outcome: 'absent' }, { kind: 'gone' }],
    ['a failure may pass', { outcome: 'transient', reason: '503' }, { kind: 'trouble', reason: '503' }],
    ['a timeout may pass', { outcome: 'timeout', reason: 'late' }, { kind: 'trouble', reason: 'late' }],
    ['an unreadable answer may pass', { outcome: 'malformed', reason: 'no JSON' }, { kind: 'trouble', reason: 'no JSON' }],
    [
      'a rejection does not pass, and keeps its status',
      { outcome: 'rejected', status: 409, reason: 'twice' },
      { kind: 'broken', reason: 'twice', status: 409 },
    ],
    ['what is forbidden does not pass', { outcome: 'forbidden', reason: 'no' }, { kind: 'broken', reason: 'no' }],
    [
      'what is forbidden names the missing scope',
      { outcome: 'forbidden', reason: 'no', missingScope: 'HISTORY' },
      { kind: 'broken', reason: 'no', missingScope: 'HISTORY' },
    ],
    [
      'a spent quota pauses until the vendor’s time',
      { outcome: 'rate_limited', retryAt: later, scope: 'short' },
      { ending: 'paused', retryAt: later, cause: 'closed' },
    ],
    [
      'a spent quota without a time pauses for a minute',
      { outcome: 'rate_limited', retryAt: undefined, scope: 'unknown' },
      { ending: 'paused', retryAt: NOW + 60_000, cause: 'closed' },
    ],
    [
      'a permit that comes later pauses until then, and the refusal keeps its shape',
      { outcome: 'no_permit', refusal },
      { ending: 'paused', retryAt: later, cause: 'reserve', refusal },
    ],
    [
      'a budget that does not answer pauses for a minute and is named',
      { outcome: 'no_permit', refusal: undefined },
      { ending: 'paused', retryAt: NOW + 60_000, cause: 'budget' },
    ],
    [
      'an application that is switched off pauses for five minutes, and needs no consent',
      { outcome: 'inactive', reason: 'off' },
      { ending: 'paused', retryAt: NOW + 300_000, cause: 'inactive' },
    ],
    [
      'a connection that is gone fails the import',
      { outcome: 'not_connected' },
      { ending: 'failed', code: 'PACE_NOT_CONNECTED', sentence: 'Strava is not connected any more.' },
    ],
    ['a lost consent fails the import', { outcome: 'needs_reauth' }, needsConsent],
    ['a new token that is refused too fails the import', { outcome: 'unauthorised', reason: 'no' }, needsConsent],
  ]
  for (const [name, outcome, answer] of rows) test(name, () => assert.deepEqual(answerOf(outcome, 'Strava', NOW), answer))
})
