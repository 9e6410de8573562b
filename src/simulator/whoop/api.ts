// WHOOP's sleeps and recoveries: newest first, `start` inclusive, `end` exclusive. A page is asked for with `nextToken`; the
// answer calls it `next_token`. Only a scored sleep has a score.
import { empty, json, type Answer } from '../answer.ts'
import type { SimulatorContext } from '../context.ts'
import type { Grant, Grants } from '../grants.ts'
import type { Call, Method, Route } from '../router.ts'
import { isoLocal } from '../world/local-time.ts'
import { asleepSeconds, stageSeconds, type Night } from '../world/nights.ts'

const PAGE = 10
const LARGEST_PAGE = 25

type Payload = Record<string, unknown>

const route = (method: Method, path: string, scopes: readonly string[], handle: (call: Call, grant: Grant) => Answer): Route => ({
  vendor: 'whoop',
  method,
  template: `/developer/v2/${path}`,
  access: scopes,
  handle: (call, grant) => (grant === undefined ? empty(401) : handle(call, grant)),
})

const byCycle =
  (call: Call) =>
  (night: Night): boolean =>
    String(night.cycle) === call.params['cycleId'] && !night.isNap

export function apiRoutes(context: SimulatorContext, grants: Grants): Route[] {
  const sleeps = (grant: Grant): Night[] => context.world.nightsOf(grant.athlete, 'whoop').filter(night => !night.isDeleted)
  const one = (grant: Grant, fits: (night: Night) => boolean, payload: (night: Night) => Payload): Answer => {
    const night = sleeps(grant).find(fits)
    return night === undefined ? empty(404) : json(200, payload(night))
  }
  return [
    route('GET', 'activity/sleep', ['read:sleep'], (call, grant) => pageOf(context, call, sleeps(grant), sleepPayload)),
    route('GET', 'activity/sleep/{sleepId}', ['read:sleep'], (call, grant) =>
      one(grant, night => night.id === call.params['sleepId'], sleepPayload),
    ),
    route('GET', 'cycle/{cycleId}/sleep', ['read:cycles', 'read:sleep'], (call, grant) =>
      one(grant, byCycle(call), sleepPayload),
    ),
    route('GET', 'recovery', ['read:recovery'], (call, grant) =>
      pageOf(
        context,
        call,
        sleeps(grant).filter(({ isNap }) => !isNap),
        recoveryPayload,
      ),
    ),
    route('GET', 'cycle/{cycleId}/recovery', ['read:recovery'], (call, grant) => one(grant, byCycle(call), recoveryPayload)),
    route('GET', 'user/profile/basic', ['read:profile'], (_, grant) => json(200, profilePayload(grant))),
    route('GET', 'user/measurement/body', ['read:body_measurement'], (_, grant) => json(200, bodyPayload(grant))),
    route('DELETE', 'user/access', [], (_, grant) => {
      grants.revoke(grant)
      return empty(204)
    }),
  ]
}

function pageOf({ clock }: SimulatorContext, call: Call, nights: readonly Night[], payload: (night: Night) => Payload): Answer {
  const limit = Number(call.query.get('limit') ?? PAGE)
  const time = (name: string, absent: number): number => (call.query.has(name) ? Date.parse(call.query.get(name) ?? '') : absent)
  const [start, end] = [time('start', 0), time('end', clock.now())]
  const offset = call.query.has('nextToken') ? Number(Buffer.from(call.query.get('nextToken') ?? '', 'base64').toString()) : 0
  if (!(limit >= 1 && limit <= LARGEST_PAGE) || Number.isNaN(start) || Number.isNaN(end) || Number.isNaN(offset))
    return empty(400)
  const found = nights
    .filter(night => night.endAt > start && night.startAt >= start && night.startAt < end)
    .toSorted((a, b) => b.startAt - a.startAt)
  const isMore = found.length > offset + limit
  const next = isMore ? { next_token: Buffer.from(String(offset + limit)).toString('base64') } : {}
  return json(200, { records: found.slice(offset, offset + limit).map(payload), ...next })
}

const milli = (seconds: number): number => seconds * 1000

function sleepPayload(night: Night): Payload {
  return {
    id: night.id,
    cycle_id: night.cycle,
    user_id: Number(night.athlete.ids.whoop),
    created_at: new Date(night.endAt + 600_000).toISOString(),
    updated_at: new Date(night.updatedAt).toISOString(),
    start: new Date(night.startAt).toISOString(),
    end: new Date(night.endAt).toISOString(),
    timezone_offset: isoLocal(night.athlete.home.zone, night.endAt).slice(-6),
    nap: night.isNap,
    score_state: night.state,
    ...(night.state === 'SCORED' ? { score: scorePayload(night) } : {}),
  }
}

function scorePayload(night: Night): Payload {
  const inBedS = (night.endAt - night.startAt) / 1000
  const needS = 27_400
  return {
    stage_summary: {
      total_in_bed_time_milli: milli(inBedS),
      total_awake_time_milli: milli(stageSeconds(night, 'awake')),
      total_no_data_time_milli: 0,
      total_light_sleep_time_milli: milli(stageSeconds(night, 'light')),
      total_slow_wave_sleep_time_milli: milli(stageSeconds(night, 'deep')),
      total_rem_sleep_time_milli: milli(stageSeconds(night, 'rem')),
      sleep_cycle_count: Math.max(1, Math.round(inBedS / 5400)),
      disturbance_count: Math.round(inBedS / 2600),
    },
    sleep_needed: {
      baseline_milli: milli(needS),
      need_from_sleep_debt_milli: 352_230,
      need_from_recent_strain_milli: 208_595,
      need_from_recent_nap_milli: 0,
    },
    respiratory_rate: Number(night.breath.toFixed(4)),
    sleep_performance_percentage: Math.min(100, Math.round((asleepSeconds(night) / needS) * 100)),
    sleep_consistency_percentage: Math.min(100, night.score + 4),
    sleep_efficiency_percentage: Number(((asleepSeconds(night) / inBedS) * 100).toFixed(4)),
  }
}

const recoveryPayload = (night: Night): Payload => ({
  cycle_id: night.cycle,
  sleep_id: night.id,
  user_id: Number(night.athlete.ids.whoop),
  created_at: new Date(night.endAt + 600_000).toISOString(),
  updated_at: new Date(night.updatedAt).toISOString(),
  score_state: night.state,
  ...(night.state === 'SCORED'
    ? {
        score: {
          user_calibrating: false,
          recovery_score: night.score,
          resting_heart_rate: night.athlete.restBpm,
          hrv_rmssd_milli: 95 - night.athlete.restBpm * 0.6,
          spo2_percentage: 96.2,
          skin_temp_celsius: 33.7,
        },
      }
    : {}),
})

const profilePayload = ({ athlete }: Grant): Payload => ({
  user_id: Number(athlete.ids.whoop),
  email: `${athlete.firstName}@example.org`.toLowerCase(),
  first_name: athlete.firstName,
  last_name: athlete.lastName,
})

const bodyPayload = ({ athlete }: Grant): Payload => ({
  height_meter: athlete.heightM,
  weight_kilogram: athlete.weightKg,
  max_heart_rate: athlete.maxBpm,
})
