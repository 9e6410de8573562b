// Arithmetic on long rows of numbers: smoothing, filling of holes, running sums, quantiles. Every function is linear in the length
// (sorting aside), changes nothing it is given, and answers finite numbers for finite ones.

/** An index that is known to be inside. */
export const at = (row: Float64Array, index: number): number => row[index] as number

/** A row of so many numbers; several times as fast as `Float64Array.from` with a function. */
export function rowBy(length: number, valueAt: (index: number) => number): Float64Array {
  const row = new Float64Array(length)
  for (let index = 0; index < length; index++) row[index] = valueAt(index)
  return row
}

export const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))

/** To so many decimals; what is no number becomes null, for JSON knows no NaN. */
export function rounded(value: number, decimals = 1): number | null {
  const scale = 10 ** decimals
  const near = Math.round(value * scale) / scale
  return Number.isFinite(near) ? near + 0 : null
}

/** Sums up to and without each index; one longer than the row. */
export function cumulated(row: Float64Array): Float64Array {
  const sums = new Float64Array(row.length + 1)
  for (let index = 0; index < row.length; index++) sums[index + 1] = at(sums, index) + at(row, index)
  return sums
}

/** Of the indices from `from` up to and without `to`; NaN of none. */
export const meanOf = (sums: Float64Array, from: number, to: number): number => (at(sums, to) - at(sums, from)) / (to - from)

/** The mean of each value and up to `reach` neighbours on either side: symmetric, so that no edge is moved. */
export function smoothed(row: Float64Array, reach: number): Float64Array {
  const sums = cumulated(row)
  return rowBy(row.length, index => meanOf(sums, Math.max(0, index - reach), Math.min(row.length, index + reach + 1)))
}

/** The median of each value and its two neighbours on either side: one or two wild samples vanish, an edge stays where it is. */
export function despiked(row: Float64Array): Float64Array {
  const five = new Float64Array(5)
  return rowBy(row.length, index => {
    if (index < 2 || index >= row.length - 2) return at(row, index)
    for (let offset = 0; offset < 5; offset++) insert(five, offset, at(row, index + offset - 2))
    return at(five, 2)
  })
}

/** Puts the value among the first `count`, which are in order; for five of them a sort is mostly overhead. */
function insert(ordered: Float64Array, count: number, value: number): void {
  let place = count
  for (; place > 0 && at(ordered, place - 1) > value; place--) ordered[place] = at(ordered, place - 1)
  ordered[place] = value
}

/** Holes (NaN) become what lies between their neighbours in time; before the first and after the last value it is held. */
export function filled(row: Float64Array, time: Float64Array): Float64Array {
  const whole = Float64Array.from(row)
  let known = -1
  for (let index = 0; index <= row.length; index++) {
    if (index < row.length && Number.isNaN(at(row, index))) continue
    bridge(whole, time, known, index)
    known = index
  }
  return whole
}

function bridge(row: Float64Array, time: Float64Array, left: number, right: number): void {
  if (right - left < 2) return
  if (left < 0 && right === row.length) return void row.fill(0)
  if (left < 0) return void row.fill(at(row, right), 0, right)
  if (right === row.length) return void row.fill(at(row, left), left + 1)
  const slope = (at(row, right) - at(row, left)) / (at(time, right) - at(time, left))
  for (let index = left + 1; index < right; index++) row[index] = at(row, left) + slope * (at(time, index) - at(time, left))
}

/** The last index whose value is not above `value`; 0 if there is none. `row` never falls. */
export function indexAt(row: Float64Array, value: number): number {
  let [low, high] = [0, row.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (at(row, middle) <= value) low = middle
    else high = middle - 1
  }
  return low
}

/** `ys` at `x`, between the two nearest of `xs`; held beyond the ends. */
export function between(xs: Float64Array, ys: Float64Array, x: number): number {
  const left = indexAt(xs, x)
  if (left >= xs.length - 1 || x <= at(xs, left)) return at(ys, left)
  const share = (x - at(xs, left)) / (at(xs, left + 1) - at(xs, left))
  return at(ys, left) + share * (at(ys, left + 1) - at(ys, left))
}

/** 0 is the least, 1 the greatest; NaN of nothing. */
export function quantile(values: Iterable<number>, share: number): number {
  const sorted = Float64Array.from(values).toSorted()
  if (sorted.length === 0) return Number.NaN
  return at(sorted, Math.round(share * (sorted.length - 1)))
}

export const median = (values: Iterable<number>): number => quantile(values, 0.5)

export const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** The standard deviation as a share of the mean. */
export function spread(values: readonly number[]): number {
  const mean = average(values)
  return Math.sqrt(average(values.map(value => (value - mean) ** 2))) / mean
}
