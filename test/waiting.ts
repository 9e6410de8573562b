// Waiting for what is certain to happen, however long a busy machine takes for it. The number of looks is limited, not the time:
// a look is work, and a slow machine takes longer for each.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 20
/** Ten minutes on a machine that has nothing else to do. Whoever looks so often in vain waits for what never comes. */
const MOST_LOOKS = 30_000

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 1; !(await condition()); looks++) {
    assert(looks < MOST_LOOKS, `what was waited for had not come when it was looked for ${looks} times`)
    await sleep(POLL_MS)
  }
}

/** Tries again as long as it fails. After far too many failures the last one is told. */
export async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt()
    } catch (error) {
      if (attempts === MOST_LOOKS) throw error
      await sleep(POLL_MS)
    }
  }
}
