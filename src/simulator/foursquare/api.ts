// Foursquare's check-ins: `count` is the lifetime total whatever was asked, `v` is mandatory, offsets are minutes.
import type { Answer } from '../answer.ts'
import type { Grant } from '../grants.ts'
import type { Call, Route } from '../router.ts'
import type { Stage } from '../stage.ts'
import type { Athlete } from '../world/athletes.ts'
import type { Checkin } from '../world/checkins.ts'
import { offsetSeconds } from '../world/local-time.ts'
import { envelope } from './envelope.ts'

/** An old version is served all the same, with a notice on the 200. */
const DEPRECATED = { errorType: 'deprecated', errorDetail: 'Please provide an API version to avoid future errors.' }
const isOld = (call: Call): boolean => Number(call.query.get('v')) < 20_140_806

const PAGE = 20
const LARGEST_PAGE = 250

export const refuse = ({ random }: Stage, status: number, errorType: string, errorDetail: string): Answer =>
  envelope(random, status, {}, { trouble: { errorType, errorDetail } })

export const apiRoutes = (stage: Stage): Route[] => [
  {
    vendor: 'foursquare',
    method: 'GET',
    template: '/v2/users/self/checkins',
    access: [],
    handle: (call, grant) =>
      grant === undefined ? refuse(stage, 401, 'invalid_auth', 'OAuth token invalid or revoked.') : list(stage, call, grant),
  },
  {
    vendor: 'foursquare',
    method: 'GET',
    template: '/v2/users/self',
    access: [],
    handle: (_, grant) =>
      grant === undefined
        ? refuse(stage, 401, 'invalid_auth', 'OAuth token invalid or revoked.')
        : envelope(stage.random, 200, { user: { id: grant.athlete.ids.foursquare, firstName: grant.athlete.firstName } }),
  },
]

function list(stage: Stage, call: Call, grant: Grant): Answer {
  if (!/^\d{8}$/.test(call.query.get('v') ?? '')) {
    const trouble = {
      errorType: 'param_error',
      errorDetail: 'The Foursquare API no longer supports requests that do not pass in a version parameter.',
    }
    return envelope(stage.random, 400, {}, { trouble, code: 410 })
  }
  const number = (name: string, absent: number): number => Number(call.query.get(name) ?? absent)
  const [limit, offset] = [number('limit', PAGE), number('offset', 0)]
  const [after, before] = [number('afterTimestamp', 0), number('beforeTimestamp', Infinity)]
  if ([limit, offset, after, before].some(Number.isNaN)) return refuse(stage, 400, 'param_error', 'A parameter is no number')
  const all = stage.world.checkins.get(grant.athlete.id) ?? []
  const found = all
    .filter(({ at }) => at / 1000 >= after && at / 1000 <= before)
    .toSorted((a, b) => (call.query.get('sort') === 'oldestfirst' ? a.at - b.at : b.at - a.at))
    .slice(offset, offset + Math.min(LARGEST_PAGE, limit))
  const content = { checkins: { count: all.length, items: found.map(checkin => shapeOf(checkin, grant.athlete)) } }
  return envelope(stage.random, 200, content, isOld(call) ? { trouble: DEPRECATED } : {})
}

const shapeOf = (checkin: Checkin, { place }: Athlete): Record<string, unknown> => ({
  id: checkin.id,
  createdAt: Math.floor(checkin.at / 1000),
  type: 'checkin',
  timeZoneOffset: Math.round(offsetSeconds(place.zone, checkin.at) / 60),
  ...(checkin.shout === undefined ? {} : { shout: checkin.shout }),
  venue: {
    id: checkin.venueId,
    name: checkin.venueName,
    location: { lat: checkin.lat, lng: checkin.lng, cc: place.cc, city: place.city, state: place.state, country: place.country },
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
