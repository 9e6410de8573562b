// The athlete's activities and check-ins: lists, one of them, and entries made by hand.
import { z } from 'zod'
import { DAY_MS } from '../../kernel/durations.ts'
import { PacelineError } from '../../kernel/errors.ts'
import { isCursor, streamStatuses, type Activity, type Checkin, type ReadActivity } from '../../activities/activities.ts'
import { errorAnswer, id, idInPath, instant, listOf, pageAsked, text } from '../answers.ts'
import type { App, HttpParts } from '../app.ts'

const config = { audience: 'athlete' } as const
const tags = ['athlete']

const streams = z.enum(streamStatuses)
const activity = z.object({
  id,
  vendor: z.string().describe('`manual` when it was entered by hand'),
  externalId: z.string().nullable(),
  name: z.string(),
  sport: z.string(),
  start: instant,
  timezone: z.string().nullable(),
  elapsedSeconds: z.number().nullable(),
  movingSeconds: z.number().nullable(),
  distanceMeters: z.number().nullable(),
  manual: z.boolean(),
  detailed: z.boolean().describe('Whether the details were fetched, not only the summary'),
  streams,
  processing: z.null(),
})
const lap = z.object({
  name: z.string().nullable(),
  start: instant.nullable(),
  elapsedSeconds: z.number().nullable(),
  movingSeconds: z.number().nullable(),
  distanceMeters: z.number().nullable(),
  elevationGainMeters: z.number().nullable(),
  averageSpeedMps: z.number().nullable(),
  averageHeartrateBpm: z.number().nullable(),
  averageWatts: z.number().nullable(),
  startIndex: z.number().nullable(),
  endIndex: z.number().nullable(),
})
const photo = z.object({
  id: z.string(),
  caption: z.string().nullable(),
  urls: z.record(z.string(), z.string()).describe('By size in pixels'),
  takenAt: instant.nullable(),
  location: z.array(z.number()).nullable().describe('Latitude, longitude'),
})
const whole = activity.extend({ description: z.string().nullable(), laps: z.array(lap), photos: z.array(photo) })
const checkin = z.object({
  id,
  vendor: z.string(),
  externalId: z.string(),
  at: instant,
  venue: z.record(z.string(), z.unknown()).nullable(),
  shout: z.string().nullable(),
  timezoneOffsetMinutes: z.number().nullable(),
})

const newestFirst = pageAsked.extend({
  cursor: z.string().max(200).refine(isCursor, 'Not a cursor').optional().describe('nextCursor of the previous page'),
})
const day = z.iso.date()
const moment = z.union([day, z.iso.datetime({ offset: true })])

/** A day counts whole, in UTC: as a lower bound from its beginning, as an upper bound to its end. */
const from = moment.transform(written => new Date(written))
const to = moment.transform(written => new Date(Date.parse(written) + (day.safeParse(written).success ? DAY_MS : 0)))

export function activityRoutes(app: App, { activities, imports }: HttpParts): void {
  const list = {
    summary: 'My activities, newest first',
    tags,
    querystring: newestFirst.extend({
      sport: text(100).optional(),
      from: from.optional().describe('From this instant or day on'),
      to: to.optional().describe('Before this instant, or up to and including this day'),
      streams: streams.optional(),
    }),
    response: { 200: listOf(activity), 400: errorAnswer },
  }
  app.get('/v1/activities', { config, schema: list }, async request => {
    const { items, nextCursor } = await activities.list(request.athleteId, request.query)
    return { items: items.map(activityAnswer), nextCursor }
  })

  const read = {
    summary: 'One of my activities, with laps and photos; details older than a day are fetched again, within the budget',
    tags,
    params: idInPath,
    response: { 200: whole, 404: errorAnswer },
  }
  app.get('/v1/activities/:id', { config, schema: read }, async request => {
    await imports.refreshed(request.athleteId, request.params.id)
    const found = await activities.read(request.athleteId, request.params.id)
    if (found === undefined) throw new PacelineError('PACE_NOT_FOUND', 'There is no such activity.')
    return wholeAnswer(found)
  })

  manualRoutes(app, activities)
  const checkins = {
    summary: 'My check-ins, newest first',
    tags,
    querystring: newestFirst,
    response: { 200: listOf(checkin), 400: errorAnswer },
  }
  app.get('/v1/checkins', { config, schema: checkins }, async request => {
    const { items, nextCursor } = await activities.checkins(request.athleteId, request.query)
    return { items: items.map(checkinAnswer), nextCursor }
  })
}

function manualRoutes(app: App, activities: HttpParts['activities']): void {
  const create = {
    summary: 'Enter an activity by hand',
    tags,
    body: z.object({
      sport: text(100),
      name: text(200),
      start: z.iso.datetime({ offset: true }),
      elapsedSeconds: z.int().min(0).max(31_536_000).describe('At most a year'),
      distanceMeters: z.number().min(0).max(1e8).optional(),
    }),
    response: { 201: activity, 400: errorAnswer },
  }
  app.post('/v1/activities', { config, schema: create }, async (request, reply) => {
    const entry = { ...request.body, start: new Date(request.body.start) }
    return await reply.code(201).send(activityAnswer(await activities.createManual(request.athleteId, entry)))
  })
}

const activityAnswer = (found: Activity) => ({ ...found, start: found.start.toISOString(), processing: null })

const wholeAnswer = (found: ReadActivity) => ({
  ...found,
  ...activityAnswer(found),
  laps: [...found.laps],
  photos: found.photos.map(each => ({
    ...each,
    urls: { ...each.urls },
    takenAt: each.takenAt?.toISOString() ?? null,
    location: each.location && [...each.location],
  })),
})

const checkinAnswer = (found: Checkin) => ({ ...found, at: found.at.toISOString(), venue: found.venue && { ...found.venue } })
