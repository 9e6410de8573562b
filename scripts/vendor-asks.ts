// How check-vendors.ts asks each route of the simulator for a good answer. Lists are read whole, and each thing in them is asked
// for by itself.
import type { Simulator } from '../src/simulator/simulator.ts'
import type { OAuthSession } from '../src/simulator/oauth-client.ts'

export interface Shown {
  readonly path: string
  readonly answer: Response
}

export type Ask = (session: OAuthSession) => Promise<Shown[]>

const get =
  (...paths: readonly string[]): Ask =>
  async session =>
    await Promise.all(paths.map(async path => ({ path, answer: await session.request('GET', path) })))

/** One request for each thing that the list at `path` names. */
const each =
  (path: string, idsIn: (body: unknown) => readonly string[], toPath: (id: string) => string): Ask =>
  async session => {
    const body: unknown = await (await session.request('GET', path)).json()
    return await get(...idsIn(body).map(toPath))(session)
  }

const ids =
  (key: string, id = 'id') =>
  (body: unknown): string[] => {
    const list = (key === '' ? body : (body as Record<string, unknown>)[key]) as Record<string, unknown>[]
    return list.map(item => String(item[id]))
  }

const activities = (suffix: string): Ask =>
  each('/api/v3/athlete/activities?per_page=100', ids(''), id => `/api/v3/activities/${id}${suffix}`)
const nights = (type: string): Ask =>
  each(`/v2/usercollection/${type}?${RANGE}`, ids('data'), id => `/v2/usercollection/${type}/${id}`)
const cycles = (what: string): Ask =>
  each('/developer/v2/recovery?limit=25', ids('records', 'cycle_id'), id => `/developer/v2/cycle/${id}/${what}`)

const RANGE = 'start_date=2026-09-01&end_date=2026-10-01'
const KEYS = 'time,distance,latlng,altitude,velocity_smooth,heartrate,cadence,watts,temp,moving,grade_smooth'
const MANUAL = { name: 'Walk', sport_type: 'Walk', start_date_local: '2026-09-30T10:00:00Z', elapsed_time: 1800, distance: 2000 }
const APPLICATION = { 'x-client-id': '4711', 'x-client-secret': 's', 'content-type': 'application/json' }

/** How each route that can be checked is asked. */
export const ASKS: Readonly<Record<string, Ask>> = {
  'strava GET /api/v3/athlete': get('/api/v3/athlete'),
  'strava GET /api/v3/athlete/activities': get(
    '/api/v3/athlete/activities?per_page=200',
    '/api/v3/athlete/activities?after=1780000000',
  ),
  'strava GET /api/v3/activities/{id}': activities(''),
  'strava GET /api/v3/activities/{id}/laps': activities('/laps'),
  'strava GET /api/v3/activities/{id}/streams': activities(`/streams?keys=${KEYS}&key_by_type=true`),
  'strava PUT /api/v3/activities/{id}': async session => {
    const [id = ''] = ids('')(await (await session.request('GET', '/api/v3/athlete/activities?per_page=1')).json())
    return [
      { path: id, answer: await session.request('PUT', `/api/v3/activities/${id}`, { name: 'New name', description: 'New' }) },
    ]
  },
  'strava POST /api/v3/activities': async session => [
    { path: '/api/v3/activities', answer: await session.request('POST', '/api/v3/activities', MANUAL) },
  ],
  'oura GET /v2/usercollection/personal_info': get('/v2/usercollection/personal_info'),
  'oura GET /v2/usercollection/sleep': get(`/v2/usercollection/sleep?${RANGE}`),
  'oura GET /v2/usercollection/daily_sleep': get(`/v2/usercollection/daily_sleep?${RANGE}`),
  'oura GET /v2/usercollection/sleep/{document_id}': nights('sleep'),
  'oura GET /v2/usercollection/daily_sleep/{document_id}': nights('daily_sleep'),
  'whoop GET /developer/v2/activity/sleep': get('/developer/v2/activity/sleep?limit=25'),
  'whoop GET /developer/v2/activity/sleep/{sleepId}': each(
    '/developer/v2/activity/sleep?limit=25',
    ids('records'),
    id => `/developer/v2/activity/sleep/${id}`,
  ),
  'whoop GET /developer/v2/cycle/{cycleId}/sleep': cycles('sleep'),
  'whoop GET /developer/v2/cycle/{cycleId}/recovery': cycles('recovery'),
  'whoop GET /developer/v2/recovery': get('/developer/v2/recovery?limit=25'),
  'whoop GET /developer/v2/user/profile/basic': get('/developer/v2/user/profile/basic'),
  'whoop GET /developer/v2/user/measurement/body': get('/developer/v2/user/measurement/body'),
}

/** Oura's subscriptions take the application's credentials and belong together: made, shown, listed, changed, renewed. */
export async function subscriptionAnswers(simulator: Simulator): Promise<Map<string, Shown[]>> {
  const url = 'http://simulator/oura/v2/webhook/subscription'
  const ask = async (method: string, path: string, body?: unknown): Promise<Shown> => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    return { path, answer: await simulator.fetch(`${url}${path}`, { method, headers: APPLICATION, ...content }) }
  }
  const order = { callback_url: 'http://receiver/', verification_token: 'v', event_type: 'create', data_type: 'sleep' }
  const made = await ask('POST', '', order)
  const { id } = (await made.answer.clone().json()) as { id: string }
  const template = '/v2/webhook/subscription'
  return new Map([
    [`oura POST ${template}`, [made]],
    [`oura GET ${template}`, [await ask('GET', '')]],
    [`oura GET ${template}/{id}`, [await ask('GET', `/${id}`)]],
    [`oura PUT ${template}/{id}`, [await ask('PUT', `/${id}`, { verification_token: 'v' })]],
    [`oura PUT ${template}/renew/{id}`, [await ask('PUT', `/renew/${id}`)]],
  ])
}

/** A receiver that passes every handshake. */
export const echo = (request: Request): Promise<Response> => {
  const [name = '', challenge] = [...new URL(request.url).searchParams].find(([key]) => key.endsWith('challenge')) ?? []
  return Promise.resolve(Response.json({ [name]: challenge }))
}
