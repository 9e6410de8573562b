// A simulator in a process of its own, and the settings with which a server beside it calls it and agrees with it on the time.
import { started, type Running, type Settings } from './paceline.ts'

export interface SimulatedOptions {
  readonly vendor?: 'strava' | 'garmin'
  readonly activities: number
  readonly speed: readonly string[]
  /** Where it sends webhooks. */
  readonly webhooksUrl?: string
}

export interface Simulated {
  readonly simulator: Running & { readonly found: string }
  readonly settings: Settings
}

export async function simulated(folder: string, options: SimulatedOptions): Promise<Simulated> {
  const { vendor = 'strava', activities, speed, webhooksUrl } = options
  const anchor = { PACELINE_CLOCK_ANCHOR: new Date().toISOString() }
  const hooks = webhooksUrl === undefined ? [] : ['--webhooks', webhooksUrl]
  const words = ['simulate', '--port', '0', '--activities', String(activities), ...speed, ...hooks]
  const simulator = await started(folder, anchor, words, /http:\/\/127\.0\.0\.1:\d+(?=;)/)
  const name = vendor.toUpperCase()
  return {
    simulator,
    settings: {
      ...anchor,
      [`${name}_CLIENT_ID`]: '1',
      [`${name}_CLIENT_SECRET`]: 'secret',
      [`${name}_BASE_URL`]: `${simulator.found}/${vendor}`,
    },
  }
}
