// A Strava that answers at once: what the simulator answered the first time is kept and given again, whoever asks.
// What is not kept yet, and consents, are the simulator's.
import type { Fetch } from '../../src/calls/calls.ts'
import { ENDLESS } from '../quota/limiter.ts'

interface Kept {
  readonly status: number
  readonly body: ArrayBuffer
}

/** Its count is behind ours, as that of a vendor whose quota nobody else spends. */
const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'x-ratelimit-limit': `${ENDLESS},${ENDLESS}`,
  'x-ratelimit-usage': '1,1',
  'x-readratelimit-limit': `${ENDLESS},${ENDLESS}`,
  'x-readratelimit-usage': '1,1',
}

export class PromptVendor {
  readonly #kept = new Map<string, Kept>()
  calls = 0

  /** Asks this simulator for what is not kept. */
  over(simulator: Fetch): Fetch {
    return async (url, init) => {
      if (init.method !== 'GET') return await simulator(url, init)
      this.calls += 1
      const { status, body } = this.#kept.get(url) ?? (await this.#keep(url, await simulator(url, init)))
      return new Response(body, { status, headers: HEADERS })
    }
  }

  async #keep(url: string, response: Response): Promise<Kept> {
    const kept = { status: response.status, body: await response.arrayBuffer() }
    this.#kept.set(url, kept)
    return kept
  }
}
