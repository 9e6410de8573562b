// What the schedules do in one minute: a bell that only notes who answers and when it would ring first.
import assert from 'node:assert/strict'
import type { Answer, Bell } from '../../src/bell/bell.ts'
import { service } from '../../src/kernel/service.ts'
import type { Rooms } from '../../src/rooms.ts'

const MINUTE_MS = 60_000

export class NotedBell implements Bell {
  readonly service = service('bell', { open: () => undefined, shut: () => undefined })
  readonly #answers = new Map<string, Answer>()
  readonly #rings = new Map<string, number>()

  answer(bell: string, answer: Answer): void {
    this.#answers.set(bell, answer)
  }

  ring(bell: string, _key: string, at: number): Promise<void> {
    this.#rings.set(bell, at)
    return Promise.resolve()
  }

  /** The names of those that ring every minute, at a time that is no edge of anything longer. */
  everyMinute(now: number): string[] {
    return [...this.#rings].filter(([, at]) => at - now <= MINUTE_MS).map(([name]) => name)
  }

  async rung(name: string): Promise<void> {
    await (this.#answers.get(name) ?? assert.fail(`nobody answers ${name}`))('next')
  }
}

/** By name; each is the work of a minute. */
export async function everyMinute(
  { imports, streams }: Rooms,
  bell: NotedBell,
  now: number,
): Promise<Map<string, () => Promise<void>>> {
  for (const ringFirst of [...imports.schedules(), ...streams.schedules()]) await ringFirst()
  return new Map(bell.everyMinute(now).map(name => [name, () => bell.rung(name)]))
}
