// Streams from the terminal: having what is owed looked at, and what was given up begun anew.
import { usage, type Command } from '../arguments.ts'
import { asking, good } from '../client.ts'

export const backfillCommand: Command = {
  name: 'backfill',
  summary: 'Has the streams that are owed looked at now, instead of at the next sweep.',
  words: '',
  fewestWords: 0,
  mostWords: 0,
  options: { athlete: { type: 'string', value: 'ID', means: 'only this athlete’s (see `athlete list`)' } },
  run: async (input, context) => {
    const athlete = input.text('athlete')
    const answer = await asking(context, async client =>
      good<{ athletes: number }>(await client.ask('POST', '/admin/streams/backfill', { body: { athlete } })),
    )
    const words = answer.athletes === 0 ? 'No streams are owed.' : `Streams are owed to ${answer.athletes} athletes: on it.`
    return context.terminal.line(input.json ? JSON.stringify(answer) : words, 0)
  },
}

export const streamsCommand: Command = {
  name: 'streams',
  summary: 'Has the streams of an activity fetched anew, or all that were given up.',
  words: 'reset [ACTIVITY]',
  fewestWords: 1,
  mostWords: 2,
  options: {
    stuck: { type: 'boolean', means: 'all that failed for good, instead of one activity' },
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
    return context.terminal.line(input.json ? JSON.stringify(answer) : `${answer.reset} will be fetched anew.`, 0)
  },
}
