// Hears of consents, of any process, and has the connection looked at without waiting for the minute's schedule. What it misses, the schedule
// finds.
import type { Connections } from '../accounts/accounts.ts'
import { tell } from '../kernel/channels.ts'
import { service, type Service } from '../kernel/service.ts'

interface WatchParts {
  readonly connections: { readonly looks: Pick<Connections['looks'], 'onConsent'> }
  readonly look: () => Promise<void>
}

/** Consents that come during a look are answered by one more look. */
export function consentWatch({ connections, look }: WatchParts): Service {
  let stopping = AbortSignal.abort()
  let isAsked = false
  let looking: Promise<void> | undefined
  let stop: (() => Promise<void>) | undefined
  const lookOn = async (): Promise<void> => {
    while (isAsked && !stopping.aborted) {
      isAsked = false
      await look().catch((error: unknown) => {
        tell('paceline:fault', { where: 'imports', error })
      })
    }
    looking = undefined
  }
  return service('consents', {
    open: async signal => {
      stopping = signal
      stop = await connections.looks.onConsent(() => {
        isAsked = true
        looking ??= lookOn()
      })
    },
    shut: async () => {
      await stop?.()
      await looking
    },
  })
}
