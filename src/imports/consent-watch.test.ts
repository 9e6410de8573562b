import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { hear as hearOf } from '../kernel/channels.ts'
import { consentWatch } from './consent-watch.ts'

/** A watch over consents that the test tells of, and looks that it ends itself. */
function watched() {
  const looks: PromiseWithResolvers<void>[] = []
  let tell = (): void => undefined
  let isListening = false
  const onConsent = (heard: () => void): Promise<() => Promise<void>> => {
    ;[tell, isListening] = [heard, true]
    return Promise.resolve(() => {
      isListening = false
      return Promise.resolve()
    })
  }
  const look = (): Promise<void> => {
    const one = Promise.withResolvers<void>()
    looks.push(one)
    return one.promise
  }
  const service = consentWatch({ connections: { looks: { onConsent } }, look })
  return { service, looks, hear: () => tell(), isListening: () => isListening }
}

describe('the watch over consents', () => {
  test('however many consents come during a look, one more look follows', async () => {
    const { service, looks, hear } = watched()
    await service.start()
    for (let count = 0; count < 5; count++) hear()
    assert.equal(looks.length, 1)
    looks[0]?.resolve()
    await turn()
    assert.equal(looks.length, 2)
    looks[1]?.resolve()
    await turn()
    assert.equal(looks.length, 2)
    hear()
    assert.equal(looks.length, 3)
    looks[2]?.resolve()
    await service.stop()
  })

  test('a look that fails is told, and the next consent is looked at', async () => {
    const { service, looks, hear } = watched()
    const faults: unknown[] = []
    const unhear = hearOf('paceline:fault', fault => faults.push(fault))
    await service.start()
    hear()
    looks[0]?.reject(new Error('no database'))
    await turn()
    hear()
    assert.equal(looks.length, 2)
    looks[1]?.resolve()
    await service.stop()
    unhear()
    assert.equal(faults.length, 1)
  })

  test('a stop waits for the look that is under way, and begins no other', async () => {
    const { service, looks, hear, isListening } = watched()
    await service.start()
    hear()
    hear()
    const stopped = service.stop()
    await turn()
    assert.equal(service.state, 'stopping')
    looks[0]?.resolve()
    await stopped
    assert.deepEqual([looks.length, isListening()], [1, false])
  })
})
