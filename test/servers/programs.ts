// Which programs the tests need, where they may be, and what to say when one is not there. Looking only: installing is
// scripts/servers.ts, running is the file named for each server.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export interface Program {
  readonly title: string
  /** All of these must be in one folder. */
  readonly files: readonly string[]
  /** The least major version of the first file that will do. */
  readonly oldest?: number
  readonly debianPackage: string
  /** Only the long run needs it. */
  readonly isForLongRun?: true
  /** When set, the shared server of a test run is the one it names and none is started. */
  readonly variable: string
  readonly variableHolds: string
}

export const programs = {
  postgres: {
    title: 'PostgreSQL 15 or newer',
    files: ['postgres', 'initdb'],
    oldest: 15,
    debianPackage: 'postgresql',
    variable: 'PACELINE_TEST_POSTGRES_URL',
    variableHolds: 'the postgres:// address of a running one, as a user who may create databases',
  },
  redis: {
    title: 'Redis',
    files: ['redis-server'],
    debianPackage: 'redis-server',
    variable: 'PACELINE_TEST_REDIS_URL',
    variableHolds: 'the redis:// address of a running one',
  },
  nats: {
    title: 'NATS server',
    files: ['nats-server'],
    debianPackage: 'nats-server',
    variable: 'PACELINE_TEST_NATS_URL',
    variableHolds: 'the nats:// address of a running one with JetStream',
  },
  chromium: {
    title: 'Chromium',
    files: ['chromium'],
    debianPackage: 'chromium',
    variable: 'PACELINE_TEST_CHROMIUM',
    variableHolds: 'the path of its executable (Chrome will do)',
  },
  promtool: {
    title: "Prometheus' promtool",
    files: ['promtool'],
    debianPackage: 'prometheus',
    isForLongRun: true,
    variable: 'PACELINE_TEST_PROMTOOL',
    variableHolds: 'the path of its executable',
  },
} as const satisfies Record<string, Program>
export type ProgramName = keyof typeof programs
export const everyProgram = Object.keys(programs) as readonly ProgramName[]
/** What every run with servers needs. */
export const programNames: readonly ProgramName[] = everyProgram.filter(name => !('isForLongRun' in programs[name]))

export interface Places {
  readonly environment: NodeJS.ProcessEnv
  /** Looked through after PATH, because Debian keeps servers outside an ordinary user's PATH. */
  readonly folders: readonly string[]
}

export const thisMachine = (): Places => ({
  environment: process.env,
  folders: ['/usr/local/sbin', '/usr/sbin', '/sbin', ...newestFirst(globSync('/usr/lib/postgresql/*/bin'))],
})

const newestFirst = (folders: readonly string[]): readonly string[] =>
  folders.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function isNewEnough(path: string, oldest: number): boolean {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  return Number(/\d+/.exec(stdout)?.[0]) >= oldest
}

/** The folder that holds all of a program's files, or undefined. */
export function findFolder(name: ProgramName, places = thisMachine()): string | undefined {
  const { files, oldest = 0 }: Program = programs[name]
  const path = (places.environment.PATH ?? '').split(delimiter).filter(folder => folder !== '')
  return [...path, ...places.folders].find(folder => {
    const paths = files.map(file => join(folder, file))
    return paths.every(isExecutable) && paths.every(file => oldest === 0 || isNewEnough(file, oldest))
  })
}

/** Like findFolder, for those who cannot go on without it. */
export function folderOf(name: ProgramName): string {
  const folder = findFolder(name)
  if (folder === undefined) throw new Error(missingSentence(name))
  return folder
}

export function missingSentence(name: ProgramName): string {
  const { title, files, debianPackage, variable, variableHolds } = programs[name]
  return (
    `${title} is missing: install it, so that ${files.join(' and ')} can be found in PATH ` +
    `(Debian: apt-get install ${debianPackage}), or set ${variable} to ${variableHolds}.`
  )
}

/** Those that neither a variable nor an installed program provides. */
export const missingPrograms = (places = thisMachine(), needed = programNames): readonly ProgramName[] =>
  needed.filter(name => !places.environment[programs[name].variable] && findFolder(name, places) === undefined)
