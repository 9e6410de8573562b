// `npm run release -- patch|minor|major|X.Y.Z [--dry-run]`: sets the version, dates the changelog, commits and tags, on a clean main
// branch. What speaks against it is one sentence, and then nothing was changed. It pushes nothing: it says what to push.
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { releaseIn, writtenAhead } from './changelog.ts'

const USAGE = 'Usage: npm run release -- patch|minor|major|X.Y.Z [--dry-run]'
const FILES = ['CHANGELOG.md', 'package.json', 'package-lock.json']

/** Why there is no release, in a sentence. */
class Refusal extends Error {
  readonly exitCode: 1 | 2

  constructor(sentence: string, exitCode: 1 | 2 = 1) {
    super(sentence)
    this.exitCode = exitCode
  }
}

interface Order {
  readonly word: string
  readonly dryRun: boolean
}

interface Release {
  readonly version: string
  readonly notes: string
  /** The new text of each file. */
  readonly texts: Readonly<Record<string, string>>
}

async function main(args: readonly string[]): Promise<number> {
  try {
    const { word, dryRun } = orderIn(args)
    await mustBeClean()
    const release = await planned(word)
    if (!dryRun) await carryOut(release)
    console.log(dryRun ? rehearsed(release) : done(release))
    return 0
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    console.error(error.message)
    return error.exitCode
  }
}

function orderIn(args: readonly string[]): Order {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { 'dry-run': { type: 'boolean', default: false } },
      allowPositionals: true,
    })
    const [word, ...more] = positionals
    if (word === undefined || more.length > 0) throw new Refusal(`A release needs one word. ${USAGE}`, 2)
    return { word, dryRun: values['dry-run'] }
  } catch (error) {
    if (error instanceof Refusal || !(error instanceof TypeError)) throw error
    throw new Refusal(`${error.message} ${USAGE}`, 2)
  }
}

async function mustBeClean(): Promise<void> {
  const branch = await git('branch', '--show-current')
  if (branch !== 'main') throw new Refusal(`A release is made on main, and this is ${branch || 'no branch'}.`)
  if ((await git('status', '--porcelain')) !== '')
    throw new Refusal('The working tree has changes: commit them or put them away first (git status shows them).')
}

async function planned(word: string): Promise<Release> {
  const [changelog = '', manifest = '', lockfile = ''] = FILES.map(read)
  const current = (JSON.parse(manifest) as { version: string }).version
  const version = versionFor(word, current, writtenAhead(changelog))
  if ((await git('tag', '--list', `v${version}`)) !== '') throw new Refusal(`${version} is released: the tag v${version} exists.`)
  const release = releaseIn(changelog, version, new Date().toISOString().slice(0, 10))
  if (release.outcome === 'misshapen') throw new Refusal('CHANGELOG.md does not begin with a section "## [Unreleased]".')
  if (release.outcome === 'empty')
    throw new Refusal('There is nothing to release: the section "Unreleased" of CHANGELOG.md is empty.')
  const texts = [release.changelog, versioned(manifest, version, 1), versioned(lockfile, version, 2)]
  return { version, notes: release.notes, texts: Object.fromEntries(FILES.map((file, n) => [file, texts[n] ?? ''])) }
}

/** `ahead`: the version that the changelog has a section for already. It has not been released, so it need not be newer. */
function versionFor(word: string, current: string, ahead: string | undefined): string {
  const version = next(word, current)
  if (version === undefined) throw new Refusal(`"${word}" is neither patch, minor or major nor a version. ${USAGE}`, 2)
  if (ahead !== undefined && version !== ahead)
    throw new Refusal(`CHANGELOG.md says that ${ahead} is not yet released: npm run release -- ${ahead}`)
  if (ahead === undefined && !isNewer(version, current)) throw new Refusal(`${version} is not newer than ${current}.`)
  return version
}

function next(word: string, current: string): string | undefined {
  const [major = 0, minor = 0, patch = 0] = numbersOf(current)
  if (word === 'major') return `${major + 1}.0.0`
  if (word === 'minor') return `${major}.${minor + 1}.0`
  if (word === 'patch') return `${major}.${minor}.${patch + 1}`
  return /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$/.test(word) ? word : undefined
}

const numbersOf = (version: string): readonly number[] => version.split('.').map(Number)

const isNewer = (version: string, than: string): boolean => version.localeCompare(than, 'en', { numeric: true }) > 0

/** Replaces the first so many versions and leaves every other character as it is. In the lockfile the second is the package's again. */
function versioned(text: string, version: string, times: number): string {
  let left = times
  return text.replaceAll(/^(\s*"version": ")[^"]*(?=")/gm, (whole, key: string) => (left-- > 0 ? `${key}${version}` : whole))
}

async function carryOut({ version, notes, texts }: Release): Promise<void> {
  for (const [file, text] of Object.entries(texts)) writeFileSync(join(root, file), text)
  try {
    await git('commit', '--quiet', '--message', `release ${version}`, '--', ...FILES)
  } catch (error) {
    await git('restore', '--staged', '--worktree', '--', ...FILES)
    throw error
  }
  try {
    // git would take the headings of the notes for comments.
    await git('tag', '--annotate', `v${version}`, '--cleanup=whitespace', '--message', `Paceline ${version}\n\n${notes}`)
  } catch (error) {
    await git('reset', '--hard', '--quiet', 'HEAD~1')
    throw error
  }
}

const rehearsed = ({ version, notes }: Release): string =>
  `This would release ${version}, and nothing was changed. Its notes:\n\n${notes}`

const done = ({ version }: Release): string =>
  `Released ${version} here: a commit and the tag v${version}. To publish it: git push origin main v${version}`

async function git(...args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)('git', args, { cwd: root })).stdout.trim()
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    throw new Refusal(`git ${args[0]} failed: ${stderr?.trim() || message}`)
  }
}

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

process.exitCode = await main(process.argv.slice(2))
