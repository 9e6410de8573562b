// Ends a run that has said nothing for too long. How long it takes is its own business as long as it speaks.
import type { Readable } from 'node:stream'

interface Speaker {
  readonly stderr: Readable | null
  once(event: 'close', listener: () => void): unknown
  kill(signal: NodeJS.Signals): unknown
}

/** Listens to its standard error until it closes. Gives what to say about it afterwards: nothing, or that it was ended. */
export function endWhenSilent(child: Speaker, silenceMs: number): () => readonly string[] {
  let said: readonly string[] = []
  const end = (): void => {
    said = [`ended, because for ${silenceMs / 60_000} min no test began and none ended`]
    // What turns round and round hears no other.
    child.kill('SIGKILL')
  }
  let timer = setTimeout(end, silenceMs)
  child.stderr?.on('data', () => {
    clearTimeout(timer)
    timer = setTimeout(end, silenceMs)
  })
  child.once('close', () => {
    clearTimeout(timer)
  })
  return () => said
}
