// One signal that follows several others, until it is no longer needed. AbortSignal.any has no end: with every use it leaves an entry in a
// signal that outlives it (0.4 kB a call: 125 MB after 320,000), so it is banned.
export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal
}

/** Aborts with the reason of the first that does. Dispose of it when the work that it guards is over: `using`. */
export function linked(...sources: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController()
  const links = sources
    .filter(source => source !== undefined)
    .map(source => ({
      source,
      abort: () => {
        controller.abort(source.reason)
      },
    }))
  for (const { source, abort } of links) {
    if (source.aborted) abort()
    else source.addEventListener('abort', abort, { once: true })
  }
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const { source, abort } of links) source.removeEventListener('abort', abort)
    },
  }
}
