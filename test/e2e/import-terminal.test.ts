// What a person sees of an import: on a terminal one line that is rewritten, with bar, end and quota; elsewhere a line for each thing said.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { ScaledClock, SystemClock } from '../../src/kernel/clock.ts'
import { listEarly, openHeardVendor, type HeardVendor } from '../programs/heard-vendor.ts'
import { commandsIn, vendorSettings } from '../programs/installation.ts'
import { launch, launchOnTerminal, up, type Ended, type Settings, type Up } from '../programs/paceline.ts'
import { prepareFolder, testFolder } from '../stores.ts'
import { until } from '../waiting.ts'

/** Few: what is shown is the same for more. */
const ACTIVITIES = 16
/** A window lasts 22 seconds: what is over within ten is waited for without a word. */
const SPEED = 40
const LIMITS: readonly [number, number] = [20, 1000]
const AGAIN = '\r\u001B[K'

describe('an import, looked at', () => {
  const folder = testFolder()
  let vendor: HeardVendor
  let server: Up
  let terminal: Ended
  let piped: Ended
  before(async () => {
    await prepareFolder(join(folder.path, '.paceline'))
    const anchor = Date.now()
    const clock = new ScaledClock(new SystemClock(), SPEED, anchor)
    vendor = await openHeardVendor({ clock, activities: ACTIVITIES, nights: 1, limits: { read: LIMITS, overall: LIMITS } })
    const settings: Settings = {
      PACELINE_CLOCK_ANCHOR: new Date(anchor).toISOString(),
      PACELINE_POLL_MINUTES: '43200',
      PACELINE_BACKFILL_YIELD: '4',
      ...vendorSettings(vendor.url),
      STRAVA_READ_LIMIT: LIMITS.join(','),
      STRAVA_OVERALL_LIMIT: LIMITS.join(','),
    }
    server = await up(folder.path, settings, '--speed', String(SPEED))
    const commands = commandsIn(folder.path, settings)
    const { id } = await commands.athlete()
    // The import begins by itself and is held up until both look on, however long their start takes.
    const looked = Promise.withResolvers<void>()
    listEarly(vendor, clock)
    const early = vendor.onRequest
    vendor.onRequest = path => looked.promise.then(() => early(path))
    // A slow machine does not use a window up: one refusal makes the pause.
    vendor.simulator.control.setFaults([{ vendor: 'strava', route: 'GET /api/v3/activities/{id}', kind: '429', times: 1 }])
    await commands.connect(id)
    const words = ['import', 'strava', '--athlete', id]
    const lookers = [launchOnTerminal(folder.path, settings, words), launch(folder.path, settings, words)] as const
    await until(() => lookers.every(({ printed }) => printed.out !== ''))
    looked.resolve()
    ;[terminal, piped] = await Promise.all([lookers[0].ended, lookers[1].ended])
  })
  after(async () => {
    await server.stop()
    await vendor.close()
    folder.remove()
  })

  test('on a terminal it is one line, rewritten until it is done', () => {
    assert.equal(terminal.code, 0, terminal.out)
    const [nothing, ...frames] = terminal.out.split(AGAIN)
    assert.equal(nothing, '')
    assert(frames.length > 3, terminal.out)
    // A new line only at the very end.
    assert.deepEqual(
      frames.filter(frame => frame.includes('\n')),
      [`Completed: ${ACTIVITIES} activities imported\r\n`],
    )
    assert.equal(frames.at(-1), `Completed: ${ACTIVITIES} activities imported\r\n`)
  })

  test('its bar moves, and beside it are the end and the quota that is left', () => {
    const frames = terminal.out.split(AGAIN).filter(frame => frame.startsWith('['))
    const bars = frames.map(frame => /^\[(#*)\.*\] {2}/.exec(frame)?.[1]?.length ?? -1)
    assert(new Set(bars).size > 1, frames.join('\n'))
    assert.deepEqual(
      bars,
      bars.toSorted((one, other) => one - other),
    )
    const told = frames.filter(frame => / {2}done about \S+ \d\d:\d\d UTC {2}\d+ of \d+ calls left \((15min|day)\)$/.test(frame))
    assert(told.length > 0, frames.join('\n'))
  })

  test('a pause is told in words', () => {
    assert.match(terminal.out, / {2}Rate limited, resuming (tomorrow )?at \d\d:\d\d {2}/)
  })

  test('where nobody can see a line rewritten, each thing that is said is a line', () => {
    assert.deepEqual([piped.code, piped.err], [0, ''])
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(piped.out, /[\r\u001B]/)
    const lines = piped.out.trimEnd().split('\n')
    assert(
      lines.some(line => /^Rate limited, resuming (tomorrow )?at \d\d:\d\d$/.test(line)),
      piped.out,
    )
    assert.equal(lines.at(-1), `Completed: ${ACTIVITIES} activities imported`)
  })
})
