// Makes sure that the programs which the tests or a benchmark need are on this machine: found, else installed with apt-get by root, else named in a
// sentence each. Starting them is left to test/servers/. Nothing it installs is left running.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { hasCode } from '../src/kernel/errors.ts'
import {
  missingPrograms,
  missingSentence,
  programNames,
  programs,
  thisMachine,
  type ProgramName,
} from '../test/servers/programs.ts'

export type Provision =
  | { readonly outcome: 'ready'; readonly installed: readonly string[] }
  | { readonly outcome: 'missing'; readonly sentences: readonly string[] }

export interface Provided {
  /** What every run with servers needs, unless told otherwise. */
  readonly needed?: readonly ProgramName[]
  readonly places?: typeof thisMachine
  /** A parameter for the test of what an ordinary user is told. */
  readonly isRoot?: boolean
}

export async function provideServers({
  needed = programNames,
  places = thisMachine,
  isRoot = process.getuid?.() === 0,
}: Provided = {}): Promise<Provision> {
  const packages = missingPrograms(places(), needed).map(name => programs[name].debianPackage)
  const failures = isRoot && packages.length > 0 ? await installPackages(packages) : []
  const missing = missingPrograms(places(), needed)
  if (missing.length === 0) return { outcome: 'ready', installed: packages }
  return { outcome: 'missing', sentences: [...failures, ...missing.map(missingSentence)] }
}

/** Answers with what went wrong. A step is tried also after a failed one: a mirror that is away does not always matter. */
async function installPackages(packages: readonly string[]): Promise<readonly string[]> {
  console.log(`Installing ${packages.join(', ')} with apt-get …`)
  const steps = [
    // An installation that was cut off earlier must be finished before anything else.
    ['dpkg', '--configure', '-a'],
    ['apt-get', 'update'],
    ['apt-get', 'install', '--yes', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300', ...packages],
  ] as const
  return withoutStartingServices(async () => {
    const failures: string[] = []
    for (const [command, ...args] of steps) {
      const failure = await run(command, args)
      if (failure !== undefined) failures.push(failure)
    }
    return failures
  })
}

async function run(command: string, args: readonly string[]): Promise<string | undefined> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  const output: Buffer[] = []
  child.stdout.on('data', chunk => output.push(chunk))
  child.stderr.on('data', chunk => output.push(chunk))
  try {
    const [code] = await once(child, 'close')
    return code === 0 ? undefined : `${command} ${args.join(' ')} failed:\n${Buffer.concat(output).toString().trim()}`
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return `There is no ${command} here.`
    throw error
  }
}

// Debian starts a server as soon as it is installed, unless this program says no (101).
const POLICY = '/usr/sbin/policy-rc.d'

async function withoutStartingServices<T>(work: () => Promise<T>): Promise<T> {
  if (!writePolicy()) return work()
  process.once('exit', removePolicy)
  try {
    return await work()
  } finally {
    removePolicy()
    process.off('exit', removePolicy)
  }
}

const removePolicy = (): void => rmSync(POLICY, { force: true })

/** False when the machine has a policy of its own, which stays. */
function writePolicy(): boolean {
  try {
    writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { flag: 'wx', mode: 0o755 })
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}
