import type { Command } from '../arguments.ts'
import { asking, good } from '../client.ts'

export const signInCommand: Command = {
  name: 'sign-in',
  summary: 'Prints a link that signs in once, within 24 hours: as the operator, or as an athlete.',
  words: '',
  fewestWords: 0,
  mostWords: 0,
  options: { athlete: { type: 'string', value: 'ID', means: 'a link for this athlete' } },
  run: async (input, context) => {
    const athlete = input.text('athlete')
    const path = athlete === undefined ? '/admin/sign-in-link' : `/admin/athletes/${encodeURIComponent(athlete)}/sign-in-link`
    const link = await asking(context, async client => good<{ url: string }>(await client.ask('POST', path)))
    return context.terminal.line(input.json ? JSON.stringify(link) : link.url, 0)
  },
}
