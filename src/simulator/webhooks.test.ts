import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { ScaledClock, SystemClock, VirtualClock } from '../kernel/clock.ts'
import { connect, type OAuthClient } from './oauth-client.ts'
import { openSimulator, type Simulator, type SimulatorOptions, type VendorName } from './simulator.ts'

const NOW = Date.UTC(2026, 9, 1, 12)
const MINUTE_MS = 60_000

interface Heard {
  readonly at: number
  readonly url: string
  readonly headers: Headers
  readonly text: string
  readonly body: Record<string, unknown>
}

/** A receiver inside the process, on the simulator's own time. */
function opened(
  answer: (heard: Heard) => number = () => 200,
  options: Partial<SimulatorOptions> = {},
): {
  clock: VirtualClock
  simulator: Simulator
  oauthClient: OAuthClient
  heard: Heard[]
} {
  const clock = new VirtualClock(NOW)
  const heard: Heard[] = []
  const send = async (request: Request): Promise<Response> => {
    const url = new URL(request.url)
    if (request.method === 'GET') {
      const [key, challenge] = [...url.searchParams].find(([name]) => name.endsWith('challenge')) ?? []
      return Response.json({ [key ?? '']: challenge })
    }
    const text = await request.text()
    const one = {
      at: clock.now(),
      url: request.url,
      headers: request.headers,
      text,
      body: JSON.parse(text) as Record<string, unknown>,
    }
    heard.push(one)
    return new Response(null, { status: answer(one) })
  }
  const simulator = openSimulator({ clock, activities: 3, nights: 1, send, webhooksUrl: 'http://engine/webhooks', ...options })
  return { clock, simulator, oauthClient: { fetch: simulator.fetch, base: 'http://simulator' }, heard }
}

const pauses = (heard: readonly Heard[]): number[] => heard.slice(1).map(({ at }, index) => at - (heard[index]?.at ?? 0))

async function announced(vendor: VendorName, status: number): Promise<{ heard: Heard[]; simulator: Simulator }> {
  const { clock, simulator, oauthClient, heard } = opened(() => status)
  await connect(oauthClient, vendor)
  if (vendor === 'strava') simulator.control.addActivity({ elapsedSeconds: 60 })
  else simulator.control.addSleep(vendor as 'oura', { nap: true })
  await clock.runUntil(simulator.settled())
  return { heard, simulator }
}

for (const [vendor, attempts, spanMs] of [
  ['strava', 3, [2 * MINUTE_MS, 4 * MINUTE_MS]],
  ['oura', 11, [50 * MINUTE_MS, 70 * MINUTE_MS]],
  ['whoop', 6, [50 * MINUTE_MS, 70 * MINUTE_MS]],
  ['garmin', 17, [6 * 1440 * MINUTE_MS, 7 * 1440 * MINUTE_MS]],
] as const) {
  test(`${vendor}: an event nobody takes is tried ${attempts} times and then lost`, async () => {
    const { heard, simulator } = await announced(vendor, 500)
    assert.equal(heard.length, attempts)
    const span = pauses(heard).reduce((sum, pause) => sum + pause, 0)
    assert(span >= spanMs[0] && span <= spanMs[1], `${span} ms in all`)
    assert.deepEqual(simulator.control.state()[vendor].webhooks, { sent: 1, attempts, accepted: 0, lost: 1 })
  })

  test(`${vendor}: an event that is taken is not sent again`, async () => {
    assert.equal((await announced(vendor, 200)).heard.length, 1)
  })
}

test('strava: create, update, delete and deauthorisation are told in Strava’s words', async () => {
  const { clock, simulator, oauthClient, heard } = opened()
  await connect(oauthClient, 'strava')
  const workout = simulator.control.addActivity({ elapsedSeconds: 60 })
  assert(workout !== undefined)
  simulator.control.changeActivity(workout.id, { name: 'New', private: true })
  simulator.control.deleteActivity(workout.id)
  simulator.control.deauthorise('strava')
  await clock.runUntil(simulator.settled())
  const owner = Number(workout.athlete.ids.strava)
  const common = { subscription_id: 1, event_time: NOW / 1000, owner_id: owner }
  const activity = { ...common, object_type: 'activity', object_id: Number(workout.id) }
  assert.deepEqual(
    heard.map(({ body }) => body),
    [
      { ...activity, aspect_type: 'create', updates: {} },
      { ...activity, aspect_type: 'update', updates: { title: 'New', private: 'true' } },
      { ...activity, aspect_type: 'delete', updates: {} },
      { ...common, object_type: 'athlete', object_id: owner, aspect_type: 'update', updates: { authorized: 'false' } },
    ],
  )
  assert.equal(heard[0]?.url, 'http://engine/webhooks/strava')
  assert.equal(heard[0]?.headers.get('x-strava-signature'), null)
})

test('strava: with activity:read alone, becoming private is a delete and ceasing to be is a create', async () => {
  const { clock, simulator, oauthClient, heard } = opened()
  await connect(oauthClient, 'strava', { scopes: 'read,activity:read' })
  const workout = simulator.control.addActivity({ elapsedSeconds: 60 })
  simulator.control.changeActivity(workout?.id ?? '', { private: true })
  simulator.control.changeActivity(workout?.id ?? '', { private: false })
  await clock.runUntil(simulator.settled())
  assert.deepEqual(
    heard.map(({ body }) => body['aspect_type']),
    ['create', 'delete', 'create'],
  )
})

test('strava: a subscription is made by a handshake, is one per application, and gets the events', async () => {
  const { clock, simulator, oauthClient, heard } = opened()
  await connect(oauthClient, 'strava')
  const client = { client_id: '4711', client_secret: 's' }
  const url = `${oauthClient.base}/strava/api/v3/push_subscriptions`
  const subscribe = (): Promise<Response> =>
    simulator.fetch(
      new Request(url, {
        method: 'POST',
        body: new URLSearchParams({ ...client, callback_url: 'http://engine/mine', verify_token: 'v' }),
      }),
    )
  const made = await subscribe()
  assert.equal(made.status, 201)
  const { id } = (await made.json()) as { id: number }
  assert.match(await (await subscribe()).text(), /already exists/)
  simulator.control.addActivity({ elapsedSeconds: 60 })
  await clock.runUntil(simulator.settled())
  assert.deepEqual([heard[0]?.url, heard[0]?.body['subscription_id']], ['http://engine/mine', id])
  const query = new URLSearchParams(client).toString()
  assert.equal(((await (await simulator.fetch(new Request(`${url}?${query}`))).json()) as unknown[]).length, 1)
  assert.equal((await simulator.fetch(new Request(`${url}/${id}?${query}`, { method: 'DELETE' }))).status, 204)
  assert.deepEqual(await (await simulator.fetch(new Request(`${url}?${query}`))).json(), [])
})

test('strava: a callback that does not echo the challenge gets no subscription', async () => {
  const { simulator, oauthClient } = opened(() => 200, {
    send: () => Promise.resolve(Response.json({ 'hub.challenge': 'wrong' })),
  })
  const body = new URLSearchParams({ client_id: '1', client_secret: 's', callback_url: 'http://engine/mine', verify_token: 'v' })
  const refused = await simulator.fetch(
    new Request(`${oauthClient.base}/strava/api/v3/push_subscriptions`, { method: 'POST', body }),
  )
  assert.equal(refused.status, 400)
  assert.match(await refused.text(), /GET to callback URL does not return 200/)
})

test('each vendor signs in its own way, over the bytes it sends', async () => {
  const { clock, simulator, oauthClient, heard } = opened(() => 200, { signWebhooks: true })
  const client = { id: 'app', secret: 'the-secret' }
  for (const vendor of ['strava', 'oura', 'whoop', 'garmin'] as const) await connect({ ...oauthClient, client }, vendor)
  simulator.control.addActivity({ elapsedSeconds: 60, manual: true })
  simulator.control.addSleep('oura', { nap: true })
  simulator.control.addSleep('whoop', { nap: true })
  simulator.control.addSleep('garmin')
  await clock.runUntil(simulator.settled())
  const of = (vendor: string): Heard => heard.find(({ url }) => url.endsWith(vendor)) ?? assert.fail(`${vendor} sent nothing`)
  const mac = (text: string): Buffer => createHmac('sha256', 'the-secret').update(text).digest()
  const [strava, oura, whoop] = [of('strava'), of('oura'), of('whoop')]
  const seconds = NOW / 1000
  assert.equal(strava.headers.get('x-strava-signature'), `t=${seconds},v1=${mac(`${seconds}.${strava.text}`).toString('hex')}`)
  assert.equal(oura.headers.get('x-oura-timestamp'), String(seconds))
  assert.equal(oura.headers.get('x-oura-signature'), mac(`${seconds}${oura.text}`).toString('hex').toUpperCase())
  assert.equal(whoop.headers.get('x-whoop-signature-timestamp'), String(NOW))
  assert.equal(whoop.headers.get('x-whoop-signature'), mac(`${NOW}${whoop.text}`).toString('base64'))
  assert.equal(of('garmin').headers.get('garmin-client-id'), 'app')
})

test('oura: a 410 ends the subscription', async () => {
  const { clock, simulator, oauthClient, heard } = opened(() => 410)
  await connect(oauthClient, 'oura')
  const headers = { 'x-client-id': '4711', 'x-client-secret': 's', 'content-type': 'application/json' }
  const url = `${oauthClient.base}/oura/v2/webhook/subscription`
  const body = JSON.stringify({
    callback_url: 'http://engine/mine',
    verification_token: 'v',
    event_type: 'create',
    data_type: 'sleep',
  })
  assert.equal((await simulator.fetch(new Request(url, { method: 'POST', headers, body }))).status, 201)
  simulator.control.addSleep('oura', { nap: true })
  await clock.runUntil(simulator.settled())
  assert.equal(heard.length, 1)
  assert.deepEqual(await (await simulator.fetch(new Request(url, { headers }))).json(), [])
})

for (const [kind, order] of [
  ['webhook_lost', ['2']],
  ['webhook_duplicate', ['1', '2', '1']],
  ['webhook_late', ['2', '1']],
  ['webhook_reorder', ['2', '1']],
] as const) {
  test(`${kind}: of two events the receiver sees ${order.join(', ')}`, async () => {
    const { clock, simulator, oauthClient, heard } = opened()
    await connect(oauthClient, 'strava')
    simulator.control.setFaults([{ vendor: 'strava', kind, times: 1 }])
    const made = [simulator.control.addActivity({ elapsedSeconds: 60 }), simulator.control.addActivity({ elapsedSeconds: 60 })]
    await clock.runUntil(simulator.settled())
    assert.deepEqual(
      heard.map(({ body }) => String(made.findIndex(workout => Number(workout?.id) === body['object_id']) + 1)),
      order,
    )
  })
}

test('an event held back goes out alone when nothing overtakes it', async () => {
  const { clock, simulator, oauthClient, heard } = opened()
  await connect(oauthClient, 'strava')
  simulator.control.setFaults([{ vendor: 'strava', kind: 'webhook_reorder', times: 1 }])
  simulator.control.addActivity({ elapsedSeconds: 60 })
  await clock.runUntil(simulator.settled())
  assert.equal(heard.length, 1)
})

test('over real sockets: a receiver that is too slow, then fails, then takes it, was asked three times', async () => {
  let asked = 0
  const receiver = createServer((_, response) => {
    asked += 1
    // The first is never answered: the vendor's two seconds run out.
    if (asked > 1) response.writeHead(asked === 2 ? 503 : 200).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const simulator = openSimulator({
    clock: new ScaledClock(new SystemClock(), 2000, NOW),
    activities: 1,
    nights: 0,
    webhooksUrl: url,
    beginsAt: NOW,
  })
  await connect({ fetch: simulator.fetch, base: 'http://simulator' }, 'strava')
  simulator.control.addActivity({ elapsedSeconds: 60 })
  await simulator.settled()
  assert.deepEqual(simulator.control.state().strava.webhooks, { sent: 1, attempts: 3, accepted: 1, lost: 0 })
  await simulator.close()
  receiver.closeAllConnections()
  receiver.close()
})
