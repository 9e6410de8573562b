// The command against the application's real routes, without a server: as it works where none runs.
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { openHttp, type HttpFixture } from '../../../test/http-fixture.ts'
import { SECRETS } from '../../../test/rooms.ts'
import { testFolder, type TestFolder } from '../../../test/stores.ts'
import { readConfig } from '../../config.ts'
import type { Engine } from '../../engine.ts'
import { runCli, type CliContext } from '../cli.ts'

const SUBJECT = 'athlete-ally.sleep.raw-received'
const unasked = (): never => assert.fail('nobody asks for this')

describe('the dead letters on the command line', () => {
  let http: HttpFixture
  let folder: TestFolder
  before(async () => {
    http = await openHttp({}, { isAlone: true })
    folder = testFolder()
  })
  after(async () => {
    await http.close()
    folder.remove()
  })

  async function cli(...words: string[]): Promise<{ code: number; out: string; err: string }> {
    const printed = { out: '', err: '' }
    const context: CliContext = {
      version: '0',
      clock: http.clock,
      terminal: {
        line: (text, exitCode = 0) => {
          printed.out += `${text}\n`
          return exitCode
        },
        error: text => {
          printed.err += `${text}\n`
        },
      },
      loadConfig: () => readConfig({ PACELINE_DATA_DIR: folder.path, STRAVA_CLIENT_ID: '1', STRAVA_CLIENT_SECRET: 'secret' }),
      openEngine: async () => ({ app: http.app, secrets: SECRETS, close: async () => undefined }) as unknown as Engine,
      examine: unasked,
      stopAsked: unasked,
    }
    return { code: await runCli(words, context), ...printed }
  }

  let letters = 0
  /** Gives its id. */
  async function dead(payload: Buffer, reason = 'non-retryable', originalSubject: string | undefined = SUBJECT): Promise<string> {
    letters += 1
    const at = http.clock.now()
    await http.deadLetters.keep({
      letterId: `letter-${letters}`,
      subject: `dlq.normalize.sleep.raw-received.${reason}`,
      originalSubject,
      eventId: `event-${letters}`,
      reason,
      error: 'payload.date: Invalid date format',
      attempt: 1,
      firstAt: at,
      lastAt: at,
      headers: {},
      payload,
    })
    const [newest] = await http.deadLetters.list({ limit: 1 })
    return newest?.id ?? assert.fail('it was not kept')
  }

  test('none is said in a sentence, with a subject too, and is an empty list in JSON', async () => {
    assert.deepEqual(await cli('dlq', 'list'), { code: 0, out: 'There are no dead letters.\n', err: '' })
    assert.equal((await cli('dlq', 'list', '--subject', 'a.b')).out, 'There are no dead letters of a.b.\n')
    assert.equal((await cli('dlq', 'list', '--json')).out, '[]\n')
  })

  test('are listed newest first over all pages, by either subject', async () => {
    const ids: string[] = []
    for (let n = 0; n < 52; n++) ids.unshift(await dead(Buffer.from('{}'), 'schema-invalid'))
    const { code, out } = await cli('dlq', 'list')
    assert.equal(code, 0)
    assert.deepEqual(
      out
        .trim()
        .split('\n')
        .map(line => line.split(' ')[0]),
      ids,
    )
    assert.match(out, /^\S+ {2}2026-01-01 00:00 UTC {2}schema-invalid {2}athlete-ally\.sleep\.raw-received {2}payload\.date: \w/)
    const inJson = async (subject: string): Promise<unknown[]> =>
      JSON.parse((await cli('dlq', 'list', '--json', '--subject', subject)).out) as unknown[]
    assert.equal((await inJson(SUBJECT)).length, 52)
    assert.equal((await inJson('dlq.normalize.sleep.raw-received.schema-invalid')).length, 52)
    assert.equal((await inJson('dlq.normalize.sleep.raw-received.max-deliver')).length, 0)
  })

  test('one is shown with what to do about it and its text', async () => {
    const id = await dead(Buffer.from('{"eventId":\n\t"é"}'))
    const { code, out } = await cli('dlq', 'show', id)
    assert.equal(code, 0)
    assert.match(out, new RegExp(`^dead letter {3}${id}\nreason {8}non-retryable: payload\\.date: Invalid date format\n`))
    assert.match(out, /^action {8}Fix the data or the rule that refused it, then replay it\.$/m)
    assert.match(out, /^published to {2}athlete-ally\.sleep\.raw-received$/m)
    assert.match(out, /^replays {7}none$/m)
    assert(out.endsWith('\n\nThe payload (18 bytes):\n{"eventId":\n\t"é"}\n'), out)
  })

  test('bytes that are no text are shown in base64, with a word that they are, and none are said to be none', async () => {
    const bytes = Buffer.from([0xff, 0x00, 0x1b])
    const { out } = await cli('dlq', 'show', await dead(bytes))
    assert(out.endsWith(`\nThe payload is binary; its 3 bytes in base64:\n${bytes.toString('base64')}\n`), out)
    assert.match((await cli('dlq', 'show', await dead(Buffer.alloc(0)))).out, /\nThe payload is empty\.\n$/)
  })

  test('nothing of one is obeyed by the terminal, and in JSON it is as it was', async () => {
    const evil = '\u001b]0;mine\u0007 \u009b2J\r'
    const id = await dead(Buffer.from(evil), 'non-retryable', `a.${evil}`)
    const shown = (await cli('dlq', 'show', id)).out + (await cli('dlq', 'list')).out
    assert.doesNotMatch(shown, /[^\P{Cc}\n\t]/u)
    assert.match(shown, /\\u001b\]0;mine\\u0007 \\u009b2J\\u000d/)
    assert.equal((JSON.parse((await cli('dlq', 'show', id, '--json')).out) as { payload: string }).payload, evil)
  })

  test('one is published again, and then those of its subject that were not yet', async () => {
    const [id, other] = [await dead(Buffer.from('{}'), 'max-deliver'), await dead(Buffer.from('{}'), 'max-deliver')]
    const subject = ['--subject', 'dlq.normalize.sleep.raw-received.max-deliver']
    assert.deepEqual(await cli('dlq', 'replay', id), { code: 0, out: '1 published again.\n', err: '' })
    assert.match((await cli('dlq', 'show', id)).out, /^replays {7}1, the last one 2026-01-01 00:00 UTC$/m)
    assert.equal((await cli('dlq', 'replay', ...subject, '--json')).out, '{"replayed":1}\n')
    assert.match((await cli('dlq', 'list', ...subject)).out, new RegExp(`^${other}.* {2}\\(replayed 1×\\)$`, 'm'))
    assert.match((await cli('dlq', 'replay', ...subject)).out, /^Nothing to replay: /)
  })

  test('one that is not there, or does not say where it came from, is a failure with its sentence', async () => {
    const nobody = '018f3d3e-0000-7000-8000-000000000000'
    for (const words of [
      ['show', nobody],
      ['show', 'no/id'],
      ['replay', nobody],
    ]) {
      const { code, out, err } = await cli('dlq', ...words)
      assert.deepEqual({ code, out }, { code: 1, out: '' })
      assert.match(err, /^There is no/)
    }
    const lost = await dead(Buffer.from('{}'), 'non-retryable', '')
    await http.database.query('update dead_letter set original_subject = null where id = $1', [lost])
    assert.match((await cli('dlq', 'show', lost)).out, /^published to {2}it does not say; it cannot be replayed$/m)
    assert.deepEqual(JSON.parse((await cli('dlq', 'replay', lost, '--json')).err), {
      error: 'The letter does not say to which subject the message was published.',
      code: 'PACE_NOT_REPLAYABLE',
    })
  })

  test('wrong words are answered with the usage, before anybody is asked', async () => {
    for (const words of [
      ['dlq'],
      ['dlq', 'purge'],
      ['dlq', 'show'],
      ['dlq', 'show', 'a', 'b'],
      ['dlq', 'show', 'a', '--subject', 's'],
      ['dlq', 'list', 'a'],
      ['dlq', 'replay'],
      ['dlq', 'replay', 'a', '--subject', 's'],
      ['dlq', 'list', '--athlete', 'a'],
    ]) {
      const { code, err } = await cli(...words)
      assert.equal(code, 2, words.join(' '))
      assert.match(err, /Usage: paceline dlq list \| show ID \| replay \[ID\]/)
    }
    const { code, out } = await cli('dlq', '--help')
    assert.equal(code, 0)
    assert.match(out, /--subject S +with list and replay/)
  })
})
