import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hear } from '../kernel/channels.ts'
import { Outage } from './outage.ts'

test('what a server echoes is told without the password and the token, however they are spelt', () => {
  const outage = new Outage(new URL('redis://user:p%40ss@redis.local:6379/1'), 'token')
  const echo = "ERR unknown command 'AUTH', with args beginning with: 'user' 'p@ss' (p%40ss, token)"
  assert.equal(
    outage.error(echo).message,
    "Redis at redis.local:6379 is unavailable: ERR unknown command 'AUTH', with args beginning with: 'user' '***' (***, ***).",
  )
})

test('only the first failure of an outage and the first answer after it are told', () => {
  const told: string[] = []
  const deafen = hear('paceline:notice', ({ sentence }) => told.push(sentence))
  const outage = new Outage(new URL('redis://redis.local'))
  outage.end()
  for (const reason of ['refused', 'reset', 'refused.']) outage.begin(reason)
  assert.equal(outage.reason, 'refused.')
  outage.end()
  outage.end()
  outage.begin('again')
  deafen()
  assert.deepEqual(told, [
    'Redis at redis.local is unavailable: refused.',
    'Redis at redis.local answers again.',
    'Redis at redis.local is unavailable: again.',
  ])
})
