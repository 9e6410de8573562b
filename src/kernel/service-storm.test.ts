// The laws of service.ts under hundreds of starts and stops at random moments, on the virtual clock: a promise that never
// settles is a lost wake-up there, and a seed that fails can be run again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hear } from './channels.ts'
import { VirtualClock } from './clock.ts'
import { pairs } from './lifecycle.ts'
import { between, type Random, seeded } from './random.ts'
import { type Service, service, serviceGroup, serviceLifecycle, type ServiceState, type ServiceWork } from './service.ts'
import { runs } from '../../test/runs.ts'

const SEEDS = runs(20, 50)
const CALLERS = 5
const CALLS_EACH = 40

interface Chance {
  readonly clock: VirtualClock
  readonly random: Random
  readonly failures: number
}

/** Work of random length that may heed its signal or not and may fail; asserts that open and shut alternate. */
class CapriciousWork implements ServiceWork {
  held = false
  #busy = false
  readonly #chance: Chance

  constructor(chance: Chance) {
    this.#chance = chance
  }

  async open(signal: AbortSignal): Promise<void> {
    assert.equal(this.held, false, 'opened twice')
    await this.#take(this.#chance.random.next() < 0.5 ? signal : undefined)
    this.held = true
  }

  async shut(): Promise<void> {
    assert.equal(this.held, true, 'shut twice')
    this.held = false
    await this.#take()
  }

  async #take(signal?: AbortSignal): Promise<void> {
    const { clock, random, failures } = this.#chance
    assert.equal(this.#busy, false, 'open and shut overlap')
    this.#busy = true
    try {
      await clock.sleep(between(random, 0, 20), signal)
      if (random.next() < failures) throw new Error('by chance')
    } finally {
      this.#busy = false
    }
  }
}

/** Returns what was asked for last. */
async function storm(target: Service, { clock, random, failures }: Chance): Promise<ServiceState> {
  const asked: ServiceState[] = []
  const ask = async (wish: 'running' | 'stopped'): Promise<void> => {
    const since = asked.push(wish)
    try {
      await (wish === 'running' ? target.start() : target.stop())
    } catch (error) {
      if (failures === 0) throw error
      return
    }
    const overtaken = asked.slice(since).some(later => later !== wish)
    assert(target.state === wish || overtaken, `${wish} was promised, it is ${target.state}`)
  }
  const caller = async (): Promise<void> => {
    const calls: Promise<void>[] = []
    for (let call = 0; call < CALLS_EACH; call++) {
      if (random.next() < 0.7) await clock.sleep(between(random, 0, 30))
      calls.push(ask(random.next() < 0.5 ? 'running' : 'stopped'))
    }
    await Promise.all(calls)
  }
  await clock.runUntil(Promise.all(Array.from({ length: CALLERS }, caller)))
  return asked.at(-1) ?? 'stopped'
}

/** Writes down each step of any service that the table of moves does not hold. */
function illegalSteps(): { steps: string[]; deafen: () => void } {
  const allowed = new Set(pairs(serviceLifecycle))
  const states = new Map<string, string>()
  const steps: string[] = []
  const deafen = hear('paceline:service', ({ service: name, state }) => {
    const step = `${states.get(name) ?? 'stopped'}>${state}`
    if (!allowed.has(step)) steps.push(`${name}: ${step}`)
    states.set(name, state)
  })
  return { steps, deafen }
}

const subjects: Record<string, (works: readonly CapriciousWork[], seed: number) => Service> = {
  service: ([work], seed) => service(`alone ${seed}`, work ?? assert.fail('no work')),
  group: (works, seed) =>
    serviceGroup(
      `group ${seed}`,
      works.map((work, i) => service(`member ${i} of ${seed}`, work)),
    ),
}
for (const [name, make] of Object.entries(subjects)) {
  for (const failures of [0, 0.1]) {
    test(`a ${name} keeps every law in a storm of starts and stops${failures > 0 ? ' that fail by chance' : ''}`, async () => {
      const watch = illegalSteps()
      for (let seed = 0; seed < SEEDS; seed++) {
        const chance = { clock: new VirtualClock(0), random: seeded(seed), failures }
        const works = Array.from({ length: name === 'group' ? 3 : 1 }, () => new CapriciousWork(chance))
        const target = make(works, seed)
        const last = await storm(target, chance)
        if (failures === 0) assert.equal(target.state, last, `seed ${seed}`)
        for (const work of works) assert.equal(work.held, target.state === 'running', `seed ${seed}`)
      }
      watch.deafen()
      assert.deepEqual(watch.steps, [])
    })
  }
}
