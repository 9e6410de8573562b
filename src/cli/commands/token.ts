import { usage, type Command } from '../arguments.ts'
import { asking, good } from '../client.ts'

export const tokenCommand: Command = {
  name: 'token',
  summary: 'Creates an API token for an athlete. It is shown once.',
  words: 'create',
  fewestWords: 1,
  mostWords: 1,
  options: { athlete: { type: 'string', value: 'ID', means: 'the athlete (see `athlete list`)' } },
  run: async (input, context) => {
    const athlete = input.text('athlete')
    if (input.words[0] !== 'create') throw usage(tokenCommand, `token takes create, not "${input.words[0]}".`)
    if (athlete === undefined) throw usage(tokenCommand, 'token create needs --athlete.')
    const path = `/admin/athletes/${encodeURIComponent(athlete)}/tokens`
    const made = await asking(context, async client => good<{ id: string; token: string }>(await client.ask('POST', path)))
    return context.terminal.line(input.json ? JSON.stringify(made) : made.token, 0)
  },
}
