import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redact, redactLine, redactText } from './redaction.ts'

const OURS = Buffer.alloc(32, 0xfb).toString('base64url')

test('what looks like a credential is taken out of a text, and the rest stays', () => {
  const examples: Record<string, string> = {
    'GET https://x.org/a?page=2&access_token=abc&b=1': 'GET https://x.org/a?page=2&access_token=[redacted]&b=1',
    '/oauth/strava/callback?state=s&code=a1b2c3d4&scope=read': '/oauth/strava/callback?state=s&code=[redacted]&scope=read',
    'back=http%3A%2F%2Fx%2Fsign-in%3Ftoken%3Dabc': 'back=http%3A%2F%2Fx%2Fsign-in%3Ftoken%3D[redacted]',
    'connect postgres://me:pa/s#s@w@db:5432/x failed': 'connect postgres://[redacted]@db:5432/x failed',
    'https://user:pass@x.org/path?mail=a@b.org': 'https://[redacted]@x.org/path?mail=a@b.org',
    'https://x.org/path/a@b.org': 'https://x.org/path/a@b.org',
    'sent Bearer abc.def-ghi and left': 'sent Bearer [redacted] and left',
    'Authorization: Basic dXNlcjpwYXNz\nHost: x': 'Authorization: [redacted]\nHost: x',
    'Set-Cookie: sid=1; HttpOnly\r\nEtag: 2': 'Set-Cookie: [redacted]\r\nEtag: 2',
    '{"client_secret":"a\\"b","x":1}': '{"client_secret":[redacted]"x":1}',
    "{ refreshToken: 'abc', n: 1 }": '{ refreshToken: [redacted] n: 1 }',
    '{\\"api_key\\":\\"abc\\",\\"x\\":1}': '{\\"api_key\\":[redacted]"x\\":1}',
    'id eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc': 'id [redacted]',
    [`refused pace_${OURS}, sent by me`]: 'refused [redacted], sent by me',
    [`/x/pace_admin_${OURS}/y and pace_ingest_${OURS}`]: '/x/[redacted]/y and [redacted]',
    'Unexpected token \'<\', "<html>secr"... is not valid JSON': 'Unexpected token [redacted] is not valid JSON',
    'Key (hash)=(abc) already exists.': 'Key (hash)=[redacted]',
    'Failing row contains (1, abc).': 'Failing row contains [redacted]',
  }
  for (const [text, expected] of Object.entries(examples)) assert.equal(redactText(text), expected)
})

test('what only resembles a credential stays', () => {
  const texts = [
    "connect failed, code: 'ECONNREFUSED'",
    'exit code: 1.',
    'code=23505 is a duplicate',
    '{"code":"PACE_CONFIG"}',
    'statusCode: 404, zipcode=12345',
    'the token was refused',
    'basic training',
    'http://127.0.0.1:8080/v1/activities/:id',
    'pace_admin_ and pace_bell_rings_total',
    'compass=north, passing=3',
  ]
  for (const text of texts) assert.equal(redactText(text), text)
})

test('what stands under a telling name is hidden whole, at any depth', () => {
  const payload = {
    headers: { Authorization: 'x', 'x-api-key': 'x', accept: '*/*' },
    list: [{ accessToken: { nested: 'x' } }, ['cookie', 'sid=1'], ['accept', 'json']],
    body: { name: 'x' },
    rawBody: 'x',
    code: 'a1b2c3',
    secretCount: 3,
  }
  assert.deepEqual(redact(payload), {
    headers: { Authorization: '[redacted]', 'x-api-key': '[redacted]', accept: '*/*' },
    list: [{ accessToken: '[redacted]' }, ['cookie', '[redacted]'], ['accept', 'json']],
    body: '[redacted]',
    rawBody: '[redacted]',
    code: '[redacted]',
    secretCount: '[redacted]',
  })
})

test('the codes of errors, and whether a secret is there, may be known', () => {
  const known = { hasToken: true, token: null, status: 200, list: ['a', 1, null] }
  assert.deepEqual(redact(known), known)
  for (const code of ['PACE_STORE_LOCKED', 'ERR_INVALID_URL', 'ECONNRESET', 'EAI_AGAIN', '40P01', 1])
    assert.deepEqual(redact({ code }), { code })
})

test('a line that is not JSON is redacted as text', () => {
  assert.equal(redactLine('plain token=abc\n'), 'plain token=[redacted]\n')
})
