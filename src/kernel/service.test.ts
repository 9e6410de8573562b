// The laws of service.ts, one by one. service-storm.test.ts proves them under random calls.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hear } from './channels.ts'
import { VirtualClock } from './clock.ts'
import { type Service, service, serviceGroup, type ServiceWork } from './service.ts'

/** Work that writes down what was asked of it, and can be told to take its time or to fail. */
function diary(log: string[], name: string, more: Partial<ServiceWork> = {}): Service {
  return service(name, {
    open: async signal => {
      log.push(`open ${name}`)
      await more.open?.(signal)
    },
    shut: async () => {
      log.push(`shut ${name}`)
      await more.shut?.()
    },
  })
}
const fail = (sentence: string) => (): never => {
  throw new Error(sentence)
}

describe('a service', () => {
  test('is stopped, runs after start and is stopped after stop', async () => {
    const log: string[] = []
    const one = diary(log, 'one')
    assert.equal(one.state, 'stopped')
    await one.start()
    assert.equal(one.state, 'running')
    await one.stop()
    assert.equal(one.state, 'stopped')
    assert.deepEqual(log, ['open one', 'shut one'])
  })

  test('opens once and shuts once, however often it is asked', async () => {
    const log: string[] = []
    const one = diary(log, 'one')
    await one.stop()
    await Promise.all([one.start(), one.start(), one.start()])
    await one.start()
    await Promise.all([one.stop(), one.stop()])
    await one.stop()
    assert.deepEqual(log, ['open one', 'shut one'])
  })

  test('can be started again', async () => {
    const log: string[] = []
    const one = diary(log, 'one')
    for (let round = 0; round < 3; round++) {
      await one.start()
      await one.stop()
    }
    assert.equal(log.length, 6)
  })

  test('aborts its signal as soon as a stop is asked for, before it shuts', async () => {
    let signal = AbortSignal.abort()
    const one = service('one', { open: given => void (signal = given), shut: () => assert(signal.aborted) })
    await one.start()
    assert.equal(signal.aborted, false)
    const stopped = one.stop()
    assert.equal(signal.aborted, true)
    await stopped
  })

  test('that fails to open is stopped, tells its caller, ends its loops and may be started again', async () => {
    let signal = AbortSignal.abort()
    let broken = true
    const one = service('one', {
      open: given => {
        signal = given
        if (broken) throw new Error('no database')
      },
      shut: fail('must not be called'),
    })
    await assert.rejects(one.start(), /no database/)
    assert.equal(one.state, 'stopped')
    assert(signal.aborted)
    await one.stop()
    broken = false
    await one.start()
    assert.equal(one.state, 'running')
  })

  test('lets each of two starts know that it failed: neither resolves on a service that does not run', async () => {
    const one = service('one', { open: fail('no database'), shut: () => undefined })
    const outcomes = await Promise.allSettled([one.start(), one.start()])
    assert.deepEqual(
      outcomes.map(outcome => outcome.status),
      ['rejected', 'rejected'],
    )
  })

  test('that fails to shut is stopped all the same and tells its caller', async () => {
    const one = diary([], 'one', { shut: fail('still busy') })
    await one.start()
    await assert.rejects(one.stop(), /still busy/)
    assert.equal(one.state, 'stopped')
    await one.start()
    assert.equal(one.state, 'running')
  })

  test('whose start is overtaken by a stop gives up without a failure', async () => {
    const clock = new VirtualClock(0)
    const one = diary([], 'one', { open: signal => clock.sleep(60_000, signal) })
    const started = one.start()
    const stopped = clock.sleep(10).then(() => one.stop())
    await clock.runUntil(Promise.all([started, stopped]))
    assert.equal(one.state, 'stopped')
    assert.equal(clock.now(), 10)
  })

  test('whose start breaks by itself while a stop waits still tells its caller', async () => {
    const clock = new VirtualClock(0)
    const one = diary([], 'one', { open: () => clock.sleep(100).then(fail('no database')) })
    const started = assert.rejects(one.start(), /no database/)
    const stopped = clock.sleep(10).then(() => one.stop())
    await clock.runUntil(Promise.all([started, stopped]))
    assert.equal(one.state, 'stopped')
  })

  test('whose start gave up for a stop still obeys the start that came after', async () => {
    const clock = new VirtualClock(0)
    const one = diary([], 'one', { open: signal => clock.sleep(100, signal) })
    const calls = [one.start(), clock.sleep(10).then(() => Promise.all([one.stop(), one.start()]))]
    await clock.runUntil(Promise.all(calls))
    assert.equal(one.state, 'running')
    assert.equal(clock.now(), 110)
  })

  test('does nothing for a wish that is withdrawn before anything began', async () => {
    const log: string[] = []
    const one = diary(log, 'one')
    await Promise.all([one.start(), one.stop()])
    assert.deepEqual(log, [])
    await Promise.all([one.start(), one.stop(), one.start()])
    assert.deepEqual(log, ['open one'])
  })
})

describe('a group', () => {
  test('starts its members in order and stops them in reverse', async () => {
    const log: string[] = []
    const group = serviceGroup(
      'group',
      ['a', 'b', 'c'].map(name => diary(log, name)),
    )
    await group.start()
    await group.stop()
    assert.deepEqual(log, ['open a', 'open b', 'open c', 'shut c', 'shut b', 'shut a'])
  })

  test('stops those before a member that fails to start, and starts none after it', async () => {
    const log: string[] = []
    const members = [diary(log, 'a'), diary(log, 'b', { open: fail('port taken') }), diary(log, 'c')]
    const group = serviceGroup('group', members)
    await assert.rejects(group.start(), /port taken/)
    assert.deepEqual(log, ['open a', 'open b', 'shut a'])
    assert.equal(group.state, 'stopped')
  })

  test('says why it did not start, also when stopping the others fails, which is told on the side', async () => {
    const told: unknown[] = []
    const deafen = hear('paceline:fault', fact => told.push(fact.error))
    const members = [diary([], 'a', { shut: fail('still busy') }), diary([], 'b', { open: fail('port taken') })]
    await assert.rejects(serviceGroup('group', members).start(), /port taken/)
    deafen()
    assert.match(String(told[0]), /group did not stop cleanly/)
  })

  test('stops every member although one fails to stop, and says which failures there were', async () => {
    const log: string[] = []
    const group = serviceGroup('group', [diary(log, 'a'), diary(log, 'b', { shut: fail('still busy') }), diary(log, 'c')])
    await group.start()
    await assert.rejects(group.stop(), (error: AggregateError) => /still busy/.test(String(error.errors[0])))
    assert.deepEqual(log.slice(3), ['shut c', 'shut b', 'shut a'])
  })

  test('that is stopped while a member starts interrupts it and stops those before it', async () => {
    const clock = new VirtualClock(0)
    const log: string[] = []
    const members = [diary(log, 'a'), diary(log, 'b', { open: signal => clock.sleep(60_000, signal) }), diary(log, 'c')]
    const group = serviceGroup('group', members)
    const calls = [group.start(), clock.sleep(10).then(() => group.stop())]
    await clock.runUntil(Promise.all(calls))
    assert.deepEqual(log, ['open a', 'open b', 'shut a'])
    assert.equal(group.state, 'stopped')
    assert.equal(clock.now(), 10)
  })

  test('that is stopped while a member starts tells when that member then fails to stop', async () => {
    const clock = new VirtualClock(0)
    const deaf = diary([], 'deaf', { open: () => clock.sleep(100), shut: fail('still busy') })
    const group = serviceGroup('group', [deaf])
    const started = assert.rejects(group.start(), /still busy/)
    const stopped = clock.sleep(10).then(() => group.stop())
    await clock.runUntil(Promise.all([started, stopped]))
    assert.equal(deaf.state, 'stopped')
  })

  test('of groups stops from the inside out', async () => {
    const log: string[] = []
    const inner = serviceGroup('inner', [diary(log, 'a'), diary(log, 'b')])
    const outer = serviceGroup('outer', [inner, diary(log, 'c')])
    await outer.start()
    await outer.stop()
    assert.deepEqual(log.slice(3), ['shut c', 'shut b', 'shut a'])
  })
})
