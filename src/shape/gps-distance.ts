// Distance from GPS positions alone, for streams that have nothing better. A step shorter than the jitter of GPS does not count
// until the position is farther away, or standing still would cover kilometres.

export type Position = readonly [latitude: number, longitude: number]

const EARTH_M = 6_371_000
const JITTER_M = 3
/** A step of this length is an error of the receiver and adds nothing. */
const LEAP_M = 2000

const isPosition = (position: unknown): position is Position =>
  Array.isArray(position) &&
  position.length === 2 &&
  position.every(degrees => Number.isFinite(degrees)) &&
  Math.abs(position[0] as number) <= 90 &&
  Math.abs(position[1] as number) <= 180

function metresBetween([lat1, lng1]: Position, [lat2, lng2]: Position): number {
  const radians = Math.PI / 180
  const north = (lat2 - lat1) * radians
  const east = (((lng2 - lng1 + 540) % 360) - 180) * radians * Math.cos(((lat1 + lat2) / 2) * radians)
  return EARTH_M * Math.hypot(north, east)
}

/** Metres since the first position, one value per sample; undefined if fewer than two positions are known. */
export function gpsDistance(positions: readonly (Position | readonly [] | null | undefined)[]): Float64Array | undefined {
  let [metres, known] = [0, 0]
  let last: Position | undefined
  const series = Float64Array.from(positions, position => {
    if (!isPosition(position)) return metres
    known += 1
    const step = last ? metresBetween(last, position) : 0
    if (last && step < JITTER_M) return metres
    if (step < LEAP_M) metres += step
    last = position
    return metres
  })
  return known < 2 ? undefined : series
}
