// Foursquare's check-ins, under its names, out of their envelope. `timeZoneOffset` is minutes; `count` is the lifetime total,
// whatever was filtered.
import { z } from 'zod'
import { decimal, entries, flag, id, optional, pageOf, text, whole, type Page } from '../shapes.ts'

const location = z.object({
  address: optional(text),
  lat: optional(decimal),
  lng: optional(decimal),
  city: optional(text),
  state: optional(text),
  country: optional(text),
  cc: optional(text),
  postalCode: optional(text),
})

const category = z.object({ id, name: optional(text), shortName: optional(text), primary: optional(flag) })

const checkin = z.object({
  id,
  createdAt: whole,
  type: optional(text),
  timeZoneOffset: optional(whole),
  shout: optional(text),
  venue: optional(
    z.object({
      id,
      name: optional(text),
      location: optional(location),
      categories: optional(z.array(category)),
    }),
  ),
})

export type FoursquareCheckin = z.infer<typeof checkin>

export const checkins = z
  .object({ response: z.object({ checkins: z.object({ count: optional(whole), items: entries }) }) })
  .transform(({ response: { checkins } }): Page<FoursquareCheckin> => ({
    ...pageOf(checkin, checkins.items),
    total: checkins.count ?? undefined,
  }))

export const self = z.object({ response: z.object({ user: z.object({ id }) }) }).transform(({ response }) => response.user.id)

/** The status again, and why. `deprecated` comes with a 200 and is no error. */
export const envelope = z.object({
  meta: z.object({ code: z.int().min(100).max(599), errorType: optional(text), errorDetail: optional(text) }),
})
