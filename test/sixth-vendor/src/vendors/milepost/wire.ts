// Milepost's workouts, under its names. `length` is metres, `took` is seconds.
import { z } from 'zod'
import { decimal, id, instant, optional, text, whole } from '../shapes.ts'

export const workout = z.object({
  id,
  began: instant,
  name: optional(text),
  sport: optional(text),
  took: optional(whole),
  length: optional(decimal),
})

export type MilepostWorkout = z.infer<typeof workout>

export const self = z.object({ id }).transform(user => user.id)
