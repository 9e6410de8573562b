// Numbers as an athlete says them: 800 m and not 803.4 m, 3 min and not 178 s. Intervals get a common round size only if all of
// them are near it.
import { average, spread } from './series.ts'

const ROUND_METRES = [
  50, 100, 150, 200, 300, 400, 500, 600, 800, 1000, 1200, 1500, 1600, 2000, 2400, 3000, 4000, 5000, 8000, 10_000,
]
const ROUND_SECONDS = [10, 15, 20, 30, 40, 45, 60, 75, 90, 105, 120, 150, 180, 210].concat(
  Array.from({ length: 57 }, (_, index) => (index + 4) * 60),
)
/** The most that the spread and the distance from the round size may be together. */
const NEAR = 0.06
const ALIKE = 0.1

export function durationText(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 100 && whole % 60 !== 0) return `${whole} s`
  const [minutes, rest] = [Math.floor(whole / 60), whole % 60]
  if (minutes >= 60) return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  return rest === 0 || minutes >= 20 ? `${Math.round(whole / 60)} min` : `${minutes}:${String(rest).padStart(2, '0')} min`
}

export function metresText(metres: number): string {
  if (metres < 2000) return `${Math.round(metres)} m`
  return `${Number((metres / 1000).toFixed(metres < 100_000 ? 1 : 0))} km`
}

export function paceText(secondsPerKm: number): string {
  const whole = Math.round(secondsPerKm)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')} /km`
}

/** The round size nearest to the mean, and how far the values are from it, as a share of it. */
function nearest(values: readonly number[], sizes: readonly number[]): { size: number; away: number } {
  const mean = average(values)
  const size = sizes.reduce((best, each) => (Math.abs(each - mean) < Math.abs(best - mean) ? each : best))
  return { size, away: spread(values) + Math.abs(mean - size) / size }
}

/** The size that all have in common, as "800 m" or "3 min"; undefined if there is none. */
export function commonSize(metres: readonly number[] | undefined, seconds: readonly number[]): string | undefined {
  const time = nearest(seconds, ROUND_SECONDS)
  const distance = metres?.every(value => value > 0) === true ? nearest(metres, ROUND_METRES) : { size: 0, away: Infinity }
  if (distance.away < NEAR && distance.away < time.away) return metresText(distance.size)
  if (time.away < NEAR) return durationText(time.size)
  return spread(seconds) < ALIKE ? durationText(Math.round(average(seconds) / 5) * 5) : undefined
}

export function rangeText(seconds: readonly number[]): string {
  const tens = seconds.map(value => Math.max(5, Math.round(value / 5) * 5))
  return `${durationText(Math.min(...tens))} to ${durationText(Math.max(...tens))}`
}
