// Oura's payloads: a sleep period and the score of a day.
import { isoLocal, offsetSeconds, offsetText } from '../world/local-time.ts'
import { asleepSeconds, SLEEP_STAGE_DIGITS, SLEEP_STAGE_S, stageSeconds, type Night } from '../world/nights.ts'

type Payload = Record<string, unknown>

const mean = (values: readonly (number | null)[]): number => {
  const known = values.filter(value => value !== null)
  return known.length === 0 ? 0 : known.reduce((sum, value) => sum + value, 0) / known.length
}

export function sleepDocument(night: Night): Payload {
  const zone = night.athlete.home.zone
  const inBedS = (night.endAt - night.startAt) / 1000
  const phases = night.stages.map(stage => SLEEP_STAGE_DIGITS[stage]).join('')
  const samples = (items: readonly (number | null)[]): Payload => ({
    interval: SLEEP_STAGE_S,
    items,
    timestamp: isoLocal(zone, night.startAt).replace(/(?=[+-]\d\d:\d\d$)/, '.000'),
  })
  return {
    id: night.id,
    day: night.day,
    type: night.isDeleted ? 'deleted' : night.isNap ? 'sleep' : 'long_sleep',
    period: night.isNap ? 1 : 0,
    bedtime_start: isoLocal(zone, night.startAt),
    bedtime_end: isoLocal(zone, night.endAt),
    time_in_bed: inBedS,
    total_sleep_duration: asleepSeconds(night),
    deep_sleep_duration: stageSeconds(night, 'deep'),
    light_sleep_duration: stageSeconds(night, 'light'),
    rem_sleep_duration: stageSeconds(night, 'rem'),
    awake_time: stageSeconds(night, 'awake'),
    latency: SLEEP_STAGE_S,
    efficiency: Math.round((asleepSeconds(night) / inBedS) * 100),
    restless_periods: Math.round(inBedS / 130),
    average_breath: Number(night.breath.toFixed(3)),
    average_heart_rate: Number(mean(night.bpm).toFixed(2)),
    lowest_heart_rate: Math.min(...night.bpm.filter(value => value !== null)),
    average_hrv: Math.round(mean(night.hrvMs)),
    heart_rate: samples(night.bpm),
    hrv: samples(night.hrvMs),
    movement_30_sec: phases
      .replaceAll('4', '2')
      .replaceAll('3', '1')
      .repeat(10)
      .slice(0, inBedS / 30),
    sleep_phase_5_min: phases,
    app_sleep_phase_5_min: phases,
    sleep_phase_30_sec: night.stages.map(stage => SLEEP_STAGE_DIGITS[stage].repeat(10)).join(''),
    readiness: night.isNap ? null : readinessOf(night),
    readiness_score_delta: 0,
    sleep_score_delta: 0,
    sleep_algorithm_version: 'v2',
    sleep_analysis_reason: 'foreground_sleep_analysis',
    low_battery_alert: false,
    ring_id: null,
  }
}

const readinessOf = ({ score }: Night): Payload => ({
  contributors: {
    activity_balance: 80,
    body_temperature: 95,
    hrv_balance: 78,
    previous_day_activity: null,
    previous_night: score,
    recovery_index: 85,
    resting_heart_rate: 88,
    sleep_balance: 76,
    sleep_regularity: 82,
  },
  score: Math.min(99, score + 2),
  temperature_deviation: -0.1,
  temperature_trend_deviation: 0,
})

export function dailyDocument(night: Night): Payload {
  const near = (shift: number): number => Math.max(1, Math.min(100, night.score + shift))
  return {
    id: night.scoreId,
    day: night.day,
    score: night.score,
    timestamp: `${night.day}T00:00:00${offsetText(offsetSeconds(night.athlete.home.zone, night.endAt))}`,
    contributors: {
      deep_sleep: near(8),
      efficiency: near(5),
      latency: near(-3),
      rem_sleep: near(2),
      restfulness: near(-9),
      timing: near(10),
      total_sleep: near(0),
    },
  }
}
