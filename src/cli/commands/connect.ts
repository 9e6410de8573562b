import { vendorNames } from '../../vendors/vendors.ts'
import { usage, type Command } from '../arguments.ts'
import { asking, good } from '../client.ts'

export const connectCommand: Command = {
  name: 'connect',
  summary: 'Prints the link where an athlete allows Paceline to read their data at a vendor.',
  words: vendorNames.join('|'),
  fewestWords: 1,
  mostWords: 1,
  options: {
    athlete: { type: 'string', value: 'ID', means: 'the athlete (see `athlete list`)' },
    write: { type: 'boolean', means: 'also ask for permission to write' },
  },
  run: async (input, context) => {
    const [vendor = ''] = input.words
    const athlete = input.text('athlete')
    if (!vendorNames.some(name => name === vendor)) throw usage(connectCommand, `There is no vendor "${vendor}".`)
    if (athlete === undefined) throw usage(connectCommand, 'connect needs --athlete.')
    const given = { body: { write: input.flag('write') }, athlete }
    const started = await asking(context, async client =>
      good<{ authorizeUrl: string }>(await client.ask('POST', `/v1/connections/${vendor}`, given)),
    )
    return context.terminal.line(input.json ? JSON.stringify(started) : started.authorizeUrl, 0)
  },
}
