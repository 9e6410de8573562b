// What the command line gets from outside: the configuration, the engine, the terminal. main.ts provides it.
import type { Clock } from '../kernel/clock.ts'
import type { Config } from '../config.ts'
import type { Engine, EngineOptions } from '../engine.ts'
import type { Finding } from '../http/http.ts'

interface Terminal {
  /** Prints to standard output and returns the exit code. */
  line(text: string, exitCode?: number): number
  error(text: string): void
  /** Replaces the line that it showed last; undefined when standard output is not a terminal. */
  readonly rewrite?: ((text: string) => void) | undefined
}

export type OpenOptions = Pick<EngineOptions, 'folder' | 'demo' | 'speed' | 'roles' | 'progress'> & { readonly quiet?: boolean }

export interface CliContext {
  readonly version: string
  readonly terminal: Terminal
  readonly clock: Clock
  readonly loadConfig: () => Config
  readonly openEngine: (config: Config, options: OpenOptions) => Promise<Engine>
  /** The system check without a running engine. */
  readonly examine: (config: Config, folder: string) => Promise<readonly Finding[]>
  /** Resolves when the process is asked to stop. */
  readonly stopAsked: () => Promise<void>
}
