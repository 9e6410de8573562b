// Arithmetic on series (long arrays of numbers): moving averages, median filters, filling of gaps, prefix sums, quantiles. Every
// function is linear in the length or better, apart from sorting, and never changes its arguments. A gap is NaN.

/** For an index that is known to be inside the series. */
export const at = (series: Float64Array, index: number): number => series[index] as number

/** A series of this length; several times as fast as `Float64Array.from` with a function. */
export function seriesBy(length: number, valueAt: (index: number) => number): Float64Array {
  const series = new Float64Array(length)
  for (let index = 0; index < length; index++) series[index] = valueAt(index)
  return series
}

export const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))

/** To this many decimals. NaN and infinity become null, because JSON has neither. */
export function rounded(value: number, decimals = 1): number | null {
  const scale = 10 ** decimals
  const near = Math.round(value * scale) / scale
  return Number.isFinite(near) ? near + 0 : null
}

/** The sum of all values before each index. The result is one longer than the series. */
export function prefixSums(series: Float64Array): Float64Array {
  const sums = new Float64Array(series.length + 1)
  for (let index = 0; index < series.length; index++) sums[index + 1] = at(sums, index) + at(series, index)
  return sums
}

/** The mean of the values from `from` to `to`, without `to`; NaN if there are none. */
export const meanBetween = (sums: Float64Array, from: number, to: number): number => (at(sums, to) - at(sums, from)) / (to - from)

/** The mean of each value and up to `reach` neighbours on either side. It is symmetric, so edges stay where they are. */
export function movingAverage(series: Float64Array, reach: number): Float64Array {
  const sums = prefixSums(series)
  return seriesBy(series.length, index =>
    meanBetween(sums, Math.max(0, index - reach), Math.min(series.length, index + reach + 1)),
  )
}

/** The median of each value and its two neighbours on either side: spikes of one or two samples vanish, edges stay. */
export function medianFiltered(series: Float64Array): Float64Array {
  const five = new Float64Array(5)
  return seriesBy(series.length, index => {
    if (index < 2 || index >= series.length - 2) return at(series, index)
    for (let offset = 0; offset < 5; offset++) insert(five, offset, at(series, index + offset - 2))
    return at(five, 2)
  })
}

/** Inserts the value among the first `count` ones, which are sorted. For five values a call to sort is mostly overhead. */
function insert(ordered: Float64Array, count: number, value: number): void {
  let place = count
  for (; place > 0 && at(ordered, place - 1) > value; place--) ordered[place] = at(ordered, place - 1)
  ordered[place] = value
}

/** Gaps (NaN) are interpolated in time. Before the first and after the last value, that value is held. */
export function filled(series: Float64Array, time: Float64Array): Float64Array {
  const whole = Float64Array.from(series)
  let known = -1
  for (let index = 0; index <= series.length; index++) {
    if (index < series.length && Number.isNaN(at(series, index))) continue
    bridge(whole, time, known, index)
    known = index
  }
  return whole
}

function bridge(series: Float64Array, time: Float64Array, left: number, right: number): void {
  if (right - left < 2) return
  if (left < 0 && right === series.length) return void series.fill(0)
  if (left < 0) return void series.fill(at(series, right), 0, right)
  if (right === series.length) return void series.fill(at(series, left), left + 1)
  const slope = (at(series, right) - at(series, left)) / (at(time, right) - at(time, left))
  for (let index = left + 1; index < right; index++) series[index] = at(series, left) + slope * (at(time, index) - at(time, left))
}

/** The last index whose value is not above `value`; 0 if there is none. The series must never fall. */
export function lastIndexNotAbove(series: Float64Array, value: number): number {
  let [low, high] = [0, series.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (at(series, middle) <= value) low = middle
    else high = middle - 1
  }
  return low
}

/** `ys` at `x`, interpolated between the two nearest of `xs`, and held beyond the ends. */
export function interpolated(xs: Float64Array, ys: Float64Array, x: number): number {
  const left = lastIndexNotAbove(xs, x)
  if (left >= xs.length - 1 || x <= at(xs, left)) return at(ys, left)
  const share = (x - at(xs, left)) / (at(xs, left + 1) - at(xs, left))
  return at(ys, left) + share * (at(ys, left + 1) - at(ys, left))
}

/** Share 0 is the least value, 1 the greatest. NaN if there are no values. */
export function quantile(values: Iterable<number>, share: number): number {
  const sorted = Float64Array.from(values).toSorted()
  if (sorted.length === 0) return Number.NaN
  return at(sorted, Math.round(share * (sorted.length - 1)))
}

export const median = (values: Iterable<number>): number => quantile(values, 0.5)

export const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** The standard deviation as a share of the mean (coefficient of variation). */
export function spread(values: readonly number[]): number {
  const mean = average(values)
  return Math.sqrt(average(values.map(value => (value - mean) ** 2))) / mean
}
