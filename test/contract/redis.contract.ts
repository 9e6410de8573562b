// The laws of the Redis port, for every adapter, on a real server that is killed, frozen and flushed. Each test has its
// own server. No duration is compared: an adapter that waits where it must not does nothing until the watchdog ends it.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { Redis as Client } from 'ioredis'
import { hear } from '../../src/kernel/channels.ts'
import type { Redis, RedisScript } from '../../src/redis/redis.ts'
import type { TestServer } from '../servers/server.ts'
import { eventually } from '../waiting.ts'

export interface RedisRig {
  readonly server: TestServer
  /** `secret` is a password or token that the server does not accept. */
  open(more?: { deadlineMs?: number; secret?: string }): Promise<Redis>
  stop(): Promise<void>
}

const script = (name: string, text: string): RedisScript => ({ name, text })
const echo = script('echo', `return { KEYS[1], ARGV[1], ARGV[2], 42, { 'nested', 7 }, false }`)
const count = script('count', `return redis.call('incr', KEYS[1])`)

const UNAVAILABLE = { code: 'PACE_REDIS_UNAVAILABLE' }
// Long enough that a machine with other work to do is not taken for an outage.
const PATIENT_MS = 120_000
// An adapter that waits for this is ended by the watchdog.
const NEVER_MS = 3_600_000

/** Speaks to the server beside the adapter. */
async function admin<T>(server: TestServer, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(server.url)
  try {
    return await work(client)
  } finally {
    client.disconnect()
  }
}

async function calls(server: TestServer, command: string): Promise<number> {
  const stats = await admin(server, client => client.info('commandstats'))
  return Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0)
}

export function redisContract(adapter: string, openAdapter: () => Promise<RedisRig>): void {
  describe(`redis: ${adapter}`, () => {
    let rig: RedisRig
    const opened: Redis[] = []
    const open = async (more?: Parameters<RedisRig['open']>[0]): Promise<Redis> => {
      const redis = await rig.open({ deadlineMs: PATIENT_MS, ...more })
      opened.push(redis)
      return redis
    }
    /** Opening does not wait for the first connection where that takes long. */
    const connected = async (more?: Parameters<RedisRig['open']>[0]): Promise<Redis> => {
      const redis = await open(more)
      await eventually(() => redis.ping())
      return redis
    }
    beforeEach(async () => {
      rig = await openAdapter()
    })
    afterEach(async () => {
      await Promise.all(opened.splice(0).map(redis => redis.close()))
      await rig.stop()
    })

    test('a script gets its keys and arguments, and numbers, texts, lists and nothing come back as they are', async () => {
      const redis = await connected()
      assert.deepEqual(await redis.run(echo, ['{a}:key'], ['text', 5]), ['{a}:key', 'text', '5', 42, ['nested', 7], null])
      assert.equal(await redis.run(script('text', `return 'grüß dich'`), [], []), 'grüß dich')
      assert.equal(await redis.run(script('nothing', 'return nil'), [], []), null)
      assert.equal(await redis.run(script('number', 'return -3'), [], []), -3)
    })

    test('a script travels once, and again after the server has forgotten it', async () => {
      const redis = await connected()
      for (let n = 1; n <= 3; n++) assert.equal(await redis.run(count, ['n'], []), n)
      assert.equal(await calls(rig.server, 'eval'), 1)
      const sha = createHash('sha1').update(count.text).digest('hex')
      assert.deepEqual(await admin(rig.server, client => client.script('EXISTS', sha)), [1])

      await admin(rig.server, client => client.script('FLUSH'))
      assert.equal(await redis.run(count, ['n'], []), 4)
      assert.equal(await redis.run(count, ['n'], []), 5)
      assert.equal(await calls(rig.server, 'eval'), 2)
    })

    test("a script's own error names the script and is not an outage", async () => {
      const redis = await connected()
      for (const text of [`return redis.call('hget', 'a')`, `return redis.error_reply('MINE is wrong')`, 'return +']) {
        await assert.rejects(redis.run(script('wrong', text), [], []), error => {
          assert(error instanceof Error)
          assert.match(error.message, /script wrong failed: (?:ERR|MINE)/)
          assert(!('code' in error))
          return true
        })
      }
      await redis.ping()
    })

    test('a server that answers only that it cannot serve is unavailable', async () => {
      const redis = await connected()
      await admin(rig.server, client => client.config('SET', 'maxmemory', '1'))
      await assert.rejects(redis.run(count, ['n'], []), { ...UNAVAILABLE, message: /OOM/ })
      await admin(rig.server, client => client.config('SET', 'maxmemory', '0'))
      assert.equal(await redis.run(count, ['n'], []), 1)
    })

    test('a killed server is unavailable at once, and a restarted one answers without reopening', async () => {
      const redis = await connected({ deadlineMs: NEVER_MS })
      const before = await redis.runId()
      assert.equal(await redis.runId(), before)
      await rig.server.kill()
      await assert.rejects(redis.ping(), UNAVAILABLE)
      await assert.rejects(redis.run(count, ['n'], []), UNAVAILABLE)
      await assert.rejects(redis.runId(), UNAVAILABLE)

      await rig.server.restart()
      await eventually(() => redis.ping())
      assert.equal(await redis.run(count, ['n'], []), 1)
      assert.match(await redis.runId(), /^[0-9a-f]{40}$/)
      assert.notEqual(await redis.runId(), before)
    })

    test('a frozen server is unavailable after the deadline, and answers again when it thaws', async () => {
      const redis = await connected({ deadlineMs: 300 })
      await rig.server.freeze()
      await assert.rejects(redis.run(count, ['n'], []), { ...UNAVAILABLE, message: /no answer within 300 ms/ })
      await assert.rejects(redis.ping(), UNAVAILABLE)
      rig.server.thaw()
      await eventually(() => redis.ping())
    })

    test('a script that was not answered in time may have run, but never twice', async () => {
      const redis = await connected({ deadlineMs: 300 })
      await eventually(() => redis.run(count, ['warm'], []))
      await rig.server.freeze()
      await assert.rejects(redis.run(count, ['n'], []), UNAVAILABLE)
      rig.server.thaw()
      await eventually(() => redis.ping())
      assert.equal(await admin(rig.server, client => client.get('n')), '1')
    })

    test('a server that is down at the start does not stop the opening and is found when it comes', async () => {
      await rig.server.kill()
      const redis = await open({ deadlineMs: NEVER_MS })
      await assert.rejects(redis.ping(), UNAVAILABLE)
      await rig.server.restart()
      await eventually(() => redis.ping())
    })

    test('an outage is told once when it begins and once when it ends', async () => {
      const told: string[] = []
      const redis = await connected()
      const deafen = hear('paceline:notice', ({ where, sentence }) => told.push(`${where}: ${sentence}`))
      try {
        await rig.server.kill()
        for (let n = 0; n < 20; n++) {
          await assert.rejects(redis.ping(), UNAVAILABLE)
          await sleep(20)
        }
        assert.equal(told.length, 1, told.join('\n'))
        assert.match(told[0] ?? '', /^redis: Redis at [\w.:]+ is unavailable: .+\.$/)
        await rig.server.restart()
        await eventually(() => redis.ping())
        await redis.ping()
        assert.equal(told.length, 2, told.join('\n'))
        assert.match(told[1] ?? '', /^redis: Redis at [\w.:]+ answers again\.$/)
      } finally {
        deafen()
      }
    })

    test('closing twice is closing once, lets what is under way finish, and ends everything', async () => {
      const redis = await connected()
      await redis.ping()
      const underWay = redis.run(count, ['n'], [])
      await Promise.all([redis.close(), redis.close()])
      await redis.close()
      assert.equal(await underWay, 1)
      await assert.rejects(redis.ping(), { ...UNAVAILABLE, message: /closed/ })
      await assert.rejects(redis.run(count, ['n'], []), UNAVAILABLE)
    })

    test('closing ends while the server is down or frozen', async () => {
      const [frozen, down] = [await connected({ deadlineMs: 300 }), await connected({ deadlineMs: 300 })]
      await rig.server.freeze()
      await frozen.close()
      rig.server.thaw()
      await rig.server.kill()
      await down.close()
    })

    test('no password and no token is ever in a sentence', async () => {
      const secret = 'p@ss-word/very:secret'
      const told: string[] = []
      const deafen = hear('paceline:notice', ({ sentence }) => told.push(sentence))
      try {
        await admin(rig.server, client => client.config('SET', 'requirepass', 'another'))
        const redis = await open({ secret })
        const error = await redis.ping().catch((error: unknown) => error)
        assert(error instanceof Error)
        assert.equal((error as { code?: unknown }).code, UNAVAILABLE.code)
        assert.equal(told.length, 1)
        for (const text of [...told, inspect(error, { depth: 9, showHidden: true })]) {
          assert(!text.includes(secret) && !text.includes(encodeURIComponent(secret)), text)
        }
      } finally {
        deafen()
      }
    })
  })
}
