// Streams from the terminal: fetch the missing ones now, and fetch again those that were given up.
import { usage, type Command } from '../arguments.ts'
import { asking, good } from '../client.ts'

export const backfillCommand: Command = {
  name: 'backfill',
  summary: 'Starts fetching missing streams now instead of within a minute.',
  words: '',
  fewestWords: 0,
  mostWords: 0,
  options: { athlete: { type: 'string', value: 'ID', means: 'only this athlete’s (see `athlete list`)' } },
  run: async (input, context) => {
    const athlete = input.text('athlete')
    const answer = await asking(context, async client =>
      good<{ athletes: number }>(await client.ask('POST', '/admin/streams/backfill', { body: { athlete } })),
    )
    const words =
      answer.athletes === 0 ? 'No streams are missing.' : `Fetching the missing streams of ${answer.athletes} athletes.`
    return context.terminal.line(input.json ? JSON.stringify(answer) : words, 0)
  },
}

export const streamsCommand: Command = {
  name: 'streams',
  summary: 'Fetches the streams of an activity again, or all that were given up.',
  words: 'reset [ACTIVITY]',
  fewestWords: 1,
  mostWords: 2,
  options: {
    stuck: { type: 'boolean', means: 'all that were given up, instead of one activity' },
    athlete: { type: 'string', value: 'ID', means: 'with --stuck: only this athlete’s' },
  },
  run: async (input, context) => {
    const [verb, activity] = input.words
    const [stuck, athlete] = [input.flag('stuck'), input.text('athlete')]
    if (verb !== 'reset') throw usage(streamsCommand, `streams takes reset, not "${verb}".`)
    if ((activity === undefined) === !stuck)
      throw usage(streamsCommand, 'streams reset needs an activity or --stuck, and not both.')
    const answer = await asking(context, async client => {
      if (activity === undefined)
        return good<{ reset: number }>(await client.ask('POST', '/admin/streams/reset', { body: { stuck, athlete } }))
      good(await client.ask('POST', `/admin/activities/${encodeURIComponent(activity)}/reset-stream-fetch`))
      return { reset: 1 }
    })
    return context.terminal.line(input.json ? JSON.stringify(answer) : `${answer.reset} will be fetched again.`, 0)
  },
}
