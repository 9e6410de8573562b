// Waiting for what is certain to happen: the runner's own limit ends a test in which it does not.
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 20

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(POLL_MS)
}

/** Tries again as long as it fails. After many failures the last one is told. */
export async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = 500; ; left--) {
    try {
      return await attempt()
    } catch (error) {
      if (left === 0) throw error
      await sleep(POLL_MS)
    }
  }
}
