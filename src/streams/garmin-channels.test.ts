import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { garminChannels } from './garmin-channels.ts'

test('times count from the first sample, and what a sensor did not say is null', () => {
  const samples = [
    { startTimeInSeconds: 1_003, heartRate: 121, stepsPerMinute: 170, latitudeInDegree: 1, longitudeInDegree: 2 },
    { startTimeInSeconds: 1_000, heartRate: 120, totalDistanceInMeters: 0.5, latitudeInDegree: 1 },
    { startTimeInSeconds: 1_010, powerInWatts: 200, bikeCadenceInRPM: 90, airTemperatureCelcius: -3, elevationInMeters: 7 },
    { startTimeInSeconds: 1_011, speedMetersPerSecond: 3.5, swimCadenceInStrokesPerMinute: 30 },
  ]
  assert.deepEqual(garminChannels({ samples }), {
    outcome: 'whole',
    pointCount: 4,
    names: ['time', 'distance', 'latlng', 'altitude', 'velocity_smooth', 'heartrate', 'cadence', 'watts', 'temp'],
    data: {
      time: [0, 3, 10, 11],
      distance: [0.5, null, null, null],
      latlng: [null, [1, 2], null, null],
      altitude: [null, null, 7, null],
      velocity_smooth: [null, null, null, 3.5],
      heartrate: [120, 121, null, null],
      cadence: [null, 85, 90, 30],
      watts: [null, null, 200, null],
      temp: [null, null, -3, null],
    },
  })
})

test('without samples there is nothing', () => {
  for (const samples of [[], null, undefined]) assert.deepEqual(garminChannels({ samples }), { outcome: 'empty' })
})

test('whatever the samples, every channel is as long as time, and time never runs backwards', () => {
  const maybe = fc.option(fc.double({ noNaN: true }), { nil: undefined })
  const sample = fc.record({ startTimeInSeconds: fc.nat(), heartRate: maybe, powerInWatts: maybe, stepsPerMinute: maybe })
  fc.assert(
    fc.property(fc.array(sample, { minLength: 1 }), samples => {
      const found = garminChannels({ samples })
      assert(found.outcome === 'whole')
      assert.equal(found.pointCount, samples.length)
      for (const channel of Object.values(found.data)) assert.equal(channel.length, samples.length)
      const time = found.data['time'] as number[]
      assert.deepEqual(
        time,
        time.toSorted((one, other) => one - other),
      )
      assert.equal(time[0], 0)
    }),
  )
})
