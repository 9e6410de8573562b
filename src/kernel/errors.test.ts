import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type LookupFunction } from 'node:net'
import { test } from 'node:test'
import { errorCatalogue, hasCode, PacelineError, reasonOf } from './errors.ts'

test('an error carries its code, its sentence, its details and its cause', () => {
  const cause = new Error('ECONNREFUSED')
  const error = new PacelineError('PACE_DATABASE_UNAVAILABLE', 'The database does not answer.', {
    cause,
    details: ['tried 3 times'],
  })
  assert(error instanceof Error)
  assert.equal(error.name, 'PacelineError')
  assert.equal(error.message, 'The database does not answer.')
  assert.equal(error.cause, cause)
  assert.deepEqual(error.details, ['tried 3 times'])
  assert(hasCode(error, 'PACE_DATABASE_UNAVAILABLE'))
})

test('an error without a cause has none, not an undefined one', () => {
  const error = new PacelineError('PACE_USAGE', 'There is no such command.')
  assert.equal('cause' in error, false)
  assert.equal(error.details, undefined)
})

test('every code has a sentence', () => {
  for (const [code, sentence] of Object.entries(errorCatalogue)) {
    assert.match(code, /^PACE(_[A-Z]+)+$/)
    assert.match(sentence, /^[A-Z].*\.$/, code)
  }
})

test('the catalogue cannot be changed at run time', () => {
  assert.throws(() => Object.assign(errorCatalogue, { PACE_USAGE: 'x' }), TypeError)
})

test('hasCode looks at anything without stumbling', () => {
  for (const nothing of [undefined, null, 'PACE_USAGE', 7, {}, new Error('PACE_USAGE')])
    assert.equal(hasCode(nothing, 'PACE_USAGE'), false)
  assert(hasCode(Object.assign(new Error('busy'), { code: 'EADDRINUSE' }), 'EADDRINUSE'))
})

test('the reason is one line, whatever was thrown', () => {
  const reasons: [unknown, string][] = [
    [new Error('refused'), 'refused'],
    [new TypeError(''), 'TypeError'],
    [new Error('first line\n  second line\r\nthird'), 'first line second line third'],
    ['just text', 'just text'],
    [undefined, 'undefined'],
    [new AggregateError([new Error('a'), new AggregateError([new Error('b'), 'c'])]), 'a; b; c'],
    [new AggregateError([new Error('a')], 'two members did not stop'), 'two members did not stop'],
    [new AggregateError([]), 'AggregateError'],
    [{ message: 'told by a library' }, 'told by a library'],
    [{ queue: 'a' }, '{"queue":"a"}'],
  ]
  for (const [thrown, reason] of reasons) assert.equal(reasonOf(thrown), reason)
})

const twoAddresses: LookupFunction = (_host, _options, found) => {
  found(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '127.0.0.2', family: 4 },
  ])
}

test('a refused connection to a name with two addresses says which were tried', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const socket = connect({ host: 'database', port, lookup: twoAddresses, autoSelectFamily: true })
  const [error] = (await once(socket, 'error')) as [unknown]
  assert.match(reasonOf(error), new RegExp(`ECONNREFUSED 127.0.0.1:${port}; .*ECONNREFUSED 127.0.0.2:${port}`))
})
