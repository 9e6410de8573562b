// Distance from places alone, for streams that have nothing better. Steps shorter than the jitter of GPS are collected until they
// amount to something, or standing still would cover kilometres.

export type Place = readonly [latitude: number, longitude: number]

const EARTH_M = 6_371_000
const JITTER_M = 3
/** A jump that no sample interval explains. */
const LEAP_M = 2000

const isPlace = (place: unknown): place is Place =>
  Array.isArray(place) &&
  place.length === 2 &&
  place.every(degrees => Number.isFinite(degrees)) &&
  Math.abs(place[0] as number) <= 90 &&
  Math.abs(place[1] as number) <= 180

export function metresBetween([lat1, lng1]: Place, [lat2, lng2]: Place): number {
  const radians = Math.PI / 180
  const north = (lat2 - lat1) * radians
  const east = (((lng2 - lng1 + 540) % 360) - 180) * radians * Math.cos(((lat1 + lat2) / 2) * radians)
  return EARTH_M * Math.hypot(north, east)
}

/** Metres since the first place, one per sample; undefined if there are not two. */
export function placesDistance(places: readonly (Place | readonly [] | null | undefined)[]): Float64Array | undefined {
  let [metres, known] = [0, 0]
  let last: Place | undefined
  const row = Float64Array.from(places, place => {
    if (!isPlace(place)) return metres
    known += 1
    const step = last ? metresBetween(last, place) : 0
    if (last && step < JITTER_M) return metres
    if (step < LEAP_M) metres += step
    last = place
    return metres
  })
  return known < 2 ? undefined : row
}
