// Which folder a command works in. The demo has its own inside the data folder and never touches the real store. Without vendor credentials
// and without PostgreSQL a command works on the demo, unless told otherwise.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'

interface Home {
  readonly demo: boolean
  readonly folder: string
  readonly speed: number
  /** The folders where a running server may have announced itself. */
  readonly folders: readonly string[]
}

const DEMO_SPEED = 60

export function homeOf(config: Config, demo: boolean = isDemo(config)): Home {
  const demoFolder = join(config.dataDir, 'demo')
  const folders = demo ? [demoFolder, config.dataDir] : [config.dataDir, demoFolder]
  return { demo, folder: demo ? demoFolder : config.dataDir, speed: demo ? DEMO_SPEED : 1, folders }
}

const isDemo = ({ postgresUrl, vendors }: Config): boolean =>
  postgresUrl === undefined && Object.values(vendors).every(({ clientId }) => clientId === undefined)

/** The home of a command that opens the store itself. When only a real store exists, it is the real one. */
export function storedHome(config: Config): Home {
  const [demo, real] = [homeOf(config, true), homeOf(config, false)]
  const hasStore = ({ folder }: Home): boolean => existsSync(join(folder, 'store'))
  return isDemo(config) && (hasStore(demo) || !hasStore(real)) ? demo : real
}
