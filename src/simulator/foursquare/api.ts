// Foursquare's check-ins: `count` is the total of all time whatever was asked, `v` is required, time zone offsets are in minutes.
import type { Answer } from '../answer.ts'
import type { SimulatorContext } from '../context.ts'
import type { Grant } from '../grants.ts'
import type { Call, Route } from '../router.ts'
import type { Athlete } from '../world/athletes.ts'
import type { Checkin } from '../world/checkins.ts'
import { offsetSeconds } from '../world/local-time.ts'
import { envelope } from './envelope.ts'

/** A request with an old version gets its 200, with this notice in it. */
const DEPRECATED = { errorType: 'deprecated', errorDetail: 'Please provide an API version to avoid future errors.' }
const isOld = (call: Call): boolean => Number(call.query.get('v')) < 20_140_806

const PAGE = 20
const LARGEST_PAGE = 250

export const refuse = ({ random }: SimulatorContext, status: number, errorType: string, errorDetail: string): Answer =>
  envelope(random, status, {}, { problem: { errorType, errorDetail } })

export const apiRoutes = (context: SimulatorContext): Route[] => [
  {
    vendor: 'foursquare',
    method: 'GET',
    template: '/v2/users/self/checkins',
    access: [],
    handle: (call, grant) =>
      grant === undefined ? refuse(context, 401, 'invalid_auth', 'OAuth token invalid or revoked.') : list(context, call, grant),
  },
  {
    vendor: 'foursquare',
    method: 'GET',
    template: '/v2/users/self',
    access: [],
    handle: (_, grant) =>
      grant === undefined
        ? refuse(context, 401, 'invalid_auth', 'OAuth token invalid or revoked.')
        : envelope(context.random, 200, { user: { id: grant.athlete.ids.foursquare, firstName: grant.athlete.firstName } }),
  },
]

function list(context: SimulatorContext, call: Call, grant: Grant): Answer {
  if (!/^\d{8}$/.test(call.query.get('v') ?? '')) {
    const problem = {
      errorType: 'param_error',
      errorDetail: 'The Foursquare API no longer supports requests that do not pass in a version parameter.',
    }
    return envelope(context.random, 400, {}, { problem, code: 410 })
  }
  const number = (name: string, absent: number): number => Number(call.query.get(name) ?? absent)
  const [limit, offset] = [number('limit', PAGE), number('offset', 0)]
  const [after, before] = [number('afterTimestamp', 0), number('beforeTimestamp', Infinity)]
  if ([limit, offset, after, before].some(Number.isNaN)) return refuse(context, 400, 'param_error', 'A parameter is not a number')
  const all = context.world.checkins.get(grant.athlete.id) ?? []
  const found = all
    .filter(({ at }) => at / 1000 >= after && at / 1000 <= before)
    .toSorted((a, b) => (call.query.get('sort') === 'oldestfirst' ? a.at - b.at : b.at - a.at))
    .slice(offset, offset + Math.min(LARGEST_PAGE, limit))
  const content = { checkins: { count: all.length, items: found.map(checkin => checkinPayload(checkin, grant.athlete)) } }
  return envelope(context.random, 200, content, isOld(call) ? { problem: DEPRECATED } : {})
}

const checkinPayload = (checkin: Checkin, { home }: Athlete): Record<string, unknown> => ({
  id: checkin.id,
  createdAt: Math.floor(checkin.at / 1000),
  type: 'checkin',
  timeZoneOffset: Math.round(offsetSeconds(home.zone, checkin.at) / 60),
  ...(checkin.shout === undefined ? {} : { shout: checkin.shout }),
  venue: {
    id: checkin.venueId,
    name: checkin.venueName,
    location: { lat: checkin.lat, lng: checkin.lng, cc: home.cc, city: home.city, state: home.state, country: home.country },
    categories: [
      {
        id: '4bf58dd8d48988d16d941735',
        name: checkin.category,
        pluralName: `${checkin.category}s`,
        shortName: checkin.category,
        icon: { prefix: 'https://example.org/icons/', suffix: '.png' },
        primary: true,
      },
    ],
  },
  likes: { count: 0, groups: [] },
  like: false,
  photos: { count: 0, items: [] },
  comments: { count: 0, items: [] },
  source: { name: 'Swarm', url: 'https://example.org/swarm' },
})
