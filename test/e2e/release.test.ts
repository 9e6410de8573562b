// The release script as a maintainer runs it, in a git repository of its own with this project's package files.
import { after, before, beforeEach, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { testFolder } from '../stores.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const TODAY = /\d{4}-\d\d-\d\d/

const HEAD = '# Changelog\n\nNewest first.\n\n## [Unreleased]\n'
const OLDER = '\n## [1.2.3] - 2026-01-31\n\n### Added\n\n- The first thing.\n'
const NEWS = '\n### Added\n\n- `paceline sing`.\n\n### Fixed\n\n- A wrong note.\n'
const CHANGELOG = `${HEAD}${NEWS}${OLDER}`

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

describe('a release', () => {
  const folder = testFolder()
  const path = (file: string): string => join(folder.path, file)
  const text = (file: string): string => readFileSync(path(file), 'utf8')
  const git = (...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: folder.path, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    return stdout.trimEnd()
  }
  const release = async (...words: string[]): Promise<Ended> =>
    await new Promise(resolve => {
      const child = execFile(process.execPath, [path('scripts/release.ts'), ...words], (_, out, err) =>
        resolve({ code: child.exitCode, out, err }),
      )
    })
  const commit = (files: Readonly<Record<string, string>>): void => {
    for (const [file, content] of Object.entries(files)) writeFileSync(path(file), content)
    git('add', '--all')
    git('commit', '--quiet', '--allow-empty', '--message', 'a change')
  }
  const versions = (): string[] => {
    const lockfile = JSON.parse(text('package-lock.json')) as { version: string; packages: Record<string, { version: string }> }
    return [
      (JSON.parse(text('package.json')) as { version: string }).version,
      lockfile.version,
      lockfile.packages['']?.version ?? '',
    ]
  }
  /** As in the project, but at 1.2.3. */
  const packageFile = (file: string): string => {
    const own = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version
    const [head = '', ...rest] = readFileSync(join(root, file), 'utf8').split('"dependencies"')
    return [head.replaceAll(`"version": "${own}"`, '"version": "1.2.3"'), ...rest].join('"dependencies"')
  }
  let first: string

  before(() => {
    git('init', '--quiet', '--initial-branch=main')
    for (const [name, value] of [
      ['user.name', 'Ada'],
      ['user.email', 'ada@example.org'],
      ['commit.gpgsign', 'false'],
      ['tag.gpgsign', 'false'],
    ] as const)
      git('config', name, value)
    mkdirSync(path('scripts'))
    for (const script of ['release.ts', 'changelog.ts']) cpSync(join(root, 'scripts', script), path(`scripts/${script}`))
    commit({
      'package.json': packageFile('package.json'),
      'package-lock.json': packageFile('package-lock.json'),
      'CHANGELOG.md': CHANGELOG,
    })
    first = git('rev-parse', 'HEAD')
  })
  beforeEach(() => {
    git('checkout', '--quiet', '--force', '-B', 'main', first)
    git('clean', '--quiet', '--force')
    for (const tag of git('tag').split('\n').filter(Boolean)) git('tag', '--delete', tag)
  })
  after(() => folder.remove())

  const refusals: [when: string, words: string[], sentence: RegExp, code: number, prepare?: () => void][] = [
    ['no word is given', [], /^A release needs one word\. Usage: /, 2],
    ['two words are given', ['patch', 'minor'], /^A release needs one word\. Usage: /, 2],
    ['the word is unknown', ['huge'], /^"huge" is neither patch, minor or major nor a version\. Usage: /, 2],
    ['an option is unknown', ['patch', '--force'], /^Unknown option '--force'.* Usage: /, 2],
    ['the version is the present one', ['1.2.3'], /^1\.2\.3 is not newer than 1\.2\.3\.$/, 1],
    ['the version is older', ['1.2.0'], /^1\.2\.0 is not newer than 1\.2\.3\.$/, 1],
    ['the tree has changes', ['patch'], /^The working tree has changes: /, 1, () => writeFileSync(path('new.txt'), '')],
    [
      'the branch is another',
      ['patch'],
      /^A release is made on main, and this is side\.$/,
      1,
      () => git('checkout', '--quiet', '-B', 'side'),
    ],
    [
      'nothing is unreleased',
      ['patch'],
      /^There is nothing to release: the section "Unreleased" of CHANGELOG\.md is empty\.$/,
      1,
      () => commit({ 'CHANGELOG.md': `${HEAD}${OLDER}` }),
    ],
    [
      'the changelog has no place for it',
      ['patch'],
      /^CHANGELOG\.md does not begin with a section "## \[Unreleased\]"\.$/,
      1,
      () => commit({ 'CHANGELOG.md': `# Changelog\n${OLDER}` }),
    ],
    ['the tag exists', ['patch'], /^1\.2\.4 is released: the tag v1\.2\.4 exists\.$/, 1, () => git('tag', 'v1.2.4')],
  ]
  for (const [when, words, sentence, code, prepare] of refusals) {
    test(`is refused with one sentence and changes nothing when ${when}`, async () => {
      prepare?.()
      const before = [git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')]
      const ended = await release(...words)
      assert.deepEqual([ended.code, ended.out], [code, ''])
      assert.match(ended.err.trimEnd(), sentence)
      assert.equal(ended.err.trimEnd().split('\n').length, 1)
      assert.deepEqual([git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')], before)
    })
  }

  test('leaves nothing behind when git refuses the tag', async () => {
    git('config', 'tag.gpgsign', 'true')
    git('config', 'gpg.program', 'false')
    const before = [git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')]
    assert.equal((await release('patch')).code, 1)
    git('config', 'tag.gpgsign', 'false')
    assert.deepEqual([git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')], before)
    assert.equal((await release('patch')).code, 0)
  })

  for (const [word, version] of [
    ['patch', '1.2.4'],
    ['minor', '1.3.0'],
    ['major', '2.0.0'],
    ['1.10.0', '1.10.0'],
  ] as const) {
    test(`${word} after 1.2.3 is ${version}: versions, changelog, one commit, one tag`, async () => {
      const { code, out, err } = await release(word)
      assert.deepEqual([code, err], [0, ''])
      assert.match(out, new RegExp(`To publish it: git push origin main v${version}\n$`))
      assert.deepEqual(versions(), [version, version, version])
      assert.equal(text('CHANGELOG.md').replace(TODAY, 'today'), `${HEAD}\n## [${version}] - today\n${NEWS}${OLDER}`)
      assert.equal(git('log', '--format=%s', `${first}..`), `release ${version}`)
      assert.equal(git('status', '--porcelain'), '')
      assert.equal(git('cat-file', '-t', `v${version}`), 'tag')
      assert.equal(
        git('tag', '--list', '--format=%(contents)', `v${version}`).trimEnd(),
        `Paceline ${version}\n${NEWS.trimEnd()}`,
      )
    })
  }

  test('changes three lines of the package files and nothing else of them', async () => {
    await release('patch')
    const changed = git('diff', '--unified=0', first, '--', 'package.json', 'package-lock.json')
    const lines = changed.split('\n').filter(line => /^[-+](?![-+])/.test(line))
    assert.deepEqual([...new Set(lines.map(line => line.replaceAll(/\s/g, '')))], ['-"version":"1.2.3",', '+"version":"1.2.4",'])
    assert.equal(lines.length, 6)
  })

  test('is only told with --dry-run', async () => {
    const { code, out } = await release('minor', '--dry-run')
    assert.equal(code, 0)
    assert.match(out, /^This would release 1\.3\.0, and nothing was changed\. Its notes:\n\n### Added\n\n- `paceline sing`/)
    assert.deepEqual([git('status', '--porcelain'), git('rev-parse', 'HEAD'), git('tag')], ['', first, ''])
  })

  describe('of a version whose section was written ahead', () => {
    const ahead = `${HEAD}${NEWS}\n## [1.2.3] - not yet released\n\nThe first.\n\n### Added\n\n- The first thing.\n`
    beforeEach(() => commit({ 'CHANGELOG.md': ahead }))

    test('comes before any other', async () => {
      const { code, err } = await release('minor')
      assert.deepEqual([code, err], [1, 'CHANGELOG.md says that 1.2.3 is not yet released: npm run release -- 1.2.3\n'])
    })

    test('takes what came since into its section, each group once', async () => {
      const { code, err } = await release('1.2.3')
      assert.deepEqual([code, err], [0, ''])
      assert.equal(
        text('CHANGELOG.md').replace(TODAY, 'today'),
        `${HEAD}\n## [1.2.3] - today\n\nThe first.\n\n### Added\n\n- The first thing.\n- \`paceline sing\`.\n\n### Fixed\n\n- A wrong note.\n`,
      )
      assert.equal(git('tag'), 'v1.2.3')
      assert.equal((await release('1.2.3')).code, 1)
    })
  })
})
