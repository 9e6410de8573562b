import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { prepareFolder, testFolder } from '../stores.ts'
import { readConfig } from '../../src/config.ts'
import { openEngine } from '../../src/engine.ts'
import { SystemClock } from '../../src/kernel/clock.ts'
import { openLog } from '../../src/telemetry/telemetry.ts'
import { announcedIn } from '../../src/cli/announcement.ts'
import { runCli } from '../../src/cli/cli.ts'

interface Printed {
  readonly text: string
  /** Where a command that is run at this moment finds the server. */
  readonly found: string | undefined
}

/** What `up` prints until it is up; then it is asked to stop. */
async function printedBy(data: string, ...words: string[]): Promise<Printed[]> {
  const lines: Printed[] = []
  const stop = Promise.withResolvers<void>()
  const line = (text: string, exitCode = 0): number => {
    lines.push({ text, found: announcedIn(join(data, 'demo')) })
    if (lines.length === 2) stop.resolve()
    return exitCode
  }
  const exitCode = await runCli(['up', ...words], {
    version: '1.2.3',
    clock: new SystemClock(),
    terminal: { line, error: text => assert.fail(text) },
    loadConfig: () => readConfig({ PACELINE_DATA_DIR: data, PACELINE_PORT: '0' }),
    openEngine: (config, options) =>
      openEngine({ config, version: '1.2.3', log: openLog({ level: 'silent', pretty: false }), ...options }),
    examine: () => assert.fail('up examines nothing'),
    stopAsked: () => stop.promise,
  })
  assert.equal(exitCode, 0)
  return lines
}

describe('up --json', () => {
  const folder = testFolder()
  let lines: Printed[] = []
  before(async () => {
    await prepareFolder(join(folder.path, 'demo'))
    lines = await printedBy(folder.path, '--json')
  })
  after(() => {
    folder.remove()
  })

  test('can be found by other commands before it prints its link, and no longer after its end', () => {
    assert(lines[0]?.found)
    assert.equal(announcedIn(join(folder.path, 'demo')), undefined)
  })

  test('prints the link first, on a plain line as without --json, and then the facts', () => {
    const [link, facts] = lines
    assert.match(link?.text ?? '', new RegExp(`^${facts?.found}/sign-in\\?token=[\\w-]{43}$`))
    assert.deepEqual(JSON.parse(facts?.text ?? ''), { url: facts?.found, version: '1.2.3', demo: true })
  })
})
