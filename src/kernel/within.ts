// Waits for work, but no longer than the signal allows. The work itself goes on; it is only no longer waited for.
export async function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const abort = (): void => {
    late.reject(signal.reason)
  }
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, late.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
