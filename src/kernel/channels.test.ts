import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hear, tell } from './channels.ts'

const told = (sentence: string): void => {
  tell('paceline:notice', { where: 'test', sentence })
}

test('a fact that nobody listens to disturbs nobody', () => {
  told('unheard')
})

test('every listener hears a fact before tell returns, in the order in which they began to listen', () => {
  const heard: string[] = []
  const stops = ['first', 'second'].map(name => hear('paceline:notice', fact => heard.push(`${name}: ${fact.sentence}`)))
  told('hello')
  assert.deepEqual(heard, ['first: hello', 'second: hello'])
  for (const stop of stops) stop()
})

test('a listener hears its own fact only', () => {
  const heard: unknown[] = []
  const stop = hear('paceline:fault', fact => heard.push(fact))
  told('not for you')
  assert.deepEqual(heard, [])
  stop()
})

test('who stopped listening hears nothing more, and the others go on', () => {
  const heard: string[] = []
  const stop = hear('paceline:notice', () => heard.push('gone'))
  const stay = hear('paceline:notice', () => heard.push('here'))
  stop()
  stop()
  told('hello')
  assert.deepEqual(heard, ['here'])
  stay()
})

test('the payload is handed on as it is, without a copy', () => {
  const error = new Error('broken')
  let heard: unknown
  const stop = hear('paceline:fault', fact => (heard = fact.error))
  tell('paceline:fault', { where: 'work', error })
  assert.equal(heard, error)
  stop()
})
