// Something that runs until it is stopped. Laws: start and stop may be called any number of times, in any order, from
// anywhere (awaited inside the service's own open or shut they would wait for themselves), and each resolves when the state
// it asked for holds or a later call has asked for the other one; `open` and `shut` never overlap and always alternate; a
// failed open leaves the service stopped and rejects the start that made it, unless it failed because of a stop; `signal`
// aborts as soon as a stop is asked for, so that loops and sleeps end by themselves.
import { tell } from './channels.ts'
import { defineLifecycle } from './lifecycle.ts'

export const serviceLifecycle = defineLifecycle({
  table: 'service',
  initial: ['stopped'],
  states: {
    stopped: { means: 'holds nothing' },
    starting: { means: 'takes what it needs' },
    running: { means: 'does its work' },
    stopping: { means: 'finishes what is under way and gives everything back' },
  },
  moves: {
    start: { from: ['stopped'], to: 'starting', when: 'somebody asked' },
    ready: { from: ['starting'], to: 'running', when: 'it has what it needs' },
    fail: { from: ['starting'], to: 'stopped', when: 'something it needs could not be had' },
    stop: { from: ['running'], to: 'stopping', when: 'somebody asked' },
    rest: { from: ['stopping'], to: 'stopped', when: 'everything was given back' },
  },
})
export type ServiceState = keyof typeof serviceLifecycle.states

export interface Service {
  readonly name: string
  readonly state: ServiceState
  start(): Promise<void>
  stop(): Promise<void>
}

export interface ServiceWork {
  open(signal: AbortSignal): Promise<void> | void
  shut(): Promise<void> | void
}

export function service(name: string, work: ServiceWork): Service {
  let state: ServiceState = 'stopped'
  let wanted: 'running' | 'stopped' = 'stopped'
  let controller = new AbortController()
  // Every transition waits for the one before it, so that open and shut never overlap.
  let tail: Promise<void> = Promise.resolve()

  const enter = (next: ServiceState): void => {
    state = next
    tell('paceline:service', { service: name, state: next })
  }
  const open = async (): Promise<void> => {
    if (wanted !== 'running' || state === 'running') return
    controller = new AbortController()
    enter('starting')
    try {
      await work.open(controller.signal)
      enter('running')
    } catch (error) {
      const overtaken = controller.signal.aborted && error === controller.signal.reason
      controller.abort()
      enter('stopped')
      if (!overtaken) throw error
    }
  }
  const shut = async (): Promise<void> => {
    // Work that opened after this stop was asked for has not been told to end: it goes on, because a later start wants it.
    if (state === 'stopped' || !controller.signal.aborted) return
    enter('stopping')
    try {
      await work.shut()
    } finally {
      enter('stopped')
    }
  }
  const queue = (step: () => Promise<void>): Promise<void> => {
    const result = tail.then(step)
    tail = result.catch(() => undefined)
    return result
  }
  return {
    name,
    get state() {
      return state
    },
    start: () => {
      wanted = 'running'
      return queue(open)
    },
    stop: () => {
      wanted = 'stopped'
      controller.abort()
      return queue(shut)
    },
  }
}

/** Starts its members in order and stops them in reverse; when one fails to start, those before it are stopped again. */
export function serviceGroup(name: string, members: readonly Service[]): Service {
  const stopAll = async (): Promise<void> => {
    const failures: unknown[] = []
    for (const member of members.toReversed()) {
      try {
        await member.stop()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `${name} did not stop cleanly`)
  }
  return service(name, {
    open: async signal => {
      try {
        for (const member of members) {
          signal.throwIfAborted()
          await startUnlessAborted(member, signal)
        }
      } catch (error) {
        // The caller hears why the start failed; a failure while stopping again is told as a fault.
        await stopAll().catch((failure: unknown) => {
          tell('paceline:fault', { where: 'service', what: name, error: failure })
        })
        throw error
      }
    },
    shut: stopAll,
  })
}

/** Passes a stop of the group on to the member that is starting, so that the stop does not wait for its start. */
async function startUnlessAborted(member: Service, signal: AbortSignal): Promise<void> {
  let stopped: Promise<void> | undefined
  const stop = (): void => {
    stopped = member.stop()
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    await member.start()
  } finally {
    signal.removeEventListener('abort', stop)
    await stopped
  }
}
