import { usage, type Arguments, type Command } from '../arguments.ts'
import { asking, good, type Client } from '../client.ts'
import type { CliContext } from '../context.ts'

interface Athlete {
  readonly id: string
  readonly name: string
  readonly timezone: string | null
}

export const athleteCommand: Command = {
  name: 'athlete',
  summary: 'Creates an athlete, or lists all athletes.',
  words: 'create | list',
  fewestWords: 1,
  mostWords: 1,
  options: {
    name: { type: 'string', value: 'NAME', means: "with create: the athlete's name" },
    timezone: {
      type: 'string',
      value: 'ZONE',
      means: 'with create: such as Europe/Berlin (default: the zone of their latest activity)',
    },
  },
  run: async (input, context) => {
    const [verb] = input.words
    if (verb === 'create') return await create(input, context)
    if (verb === 'list') return await list(input, context)
    throw usage(athleteCommand, `athlete takes create or list, not "${verb}".`)
  },
}

async function create(input: Arguments, context: CliContext): Promise<number> {
  const [name, timezone] = [input.text('name'), input.text('timezone')]
  if (name === undefined) throw usage(athleteCommand, 'athlete create needs --name.')
  const made = await asking(context, async client =>
    good<Athlete>(await client.ask('POST', '/admin/athletes', { body: { name, timezone } })),
  )
  return context.terminal.line(input.json ? JSON.stringify(made) : `${made.id}  ${made.name}`, 0)
}

async function list(input: Arguments, context: CliContext): Promise<number> {
  const athletes = await asking(context, everyAthlete)
  if (input.json) return context.terminal.line(JSON.stringify(athletes), 0)
  const lines = athletes.map(({ id, name, timezone }) => `${id}  ${name}${timezone === null ? '' : `  (${timezone})`}`)
  return context.terminal.line(lines.length === 0 ? 'There are no athletes yet.' : lines.join('\n'), 0)
}

export async function everyAthlete(client: Client): Promise<Athlete[]> {
  const found: Athlete[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const path = `/admin/athletes?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`
    const page: { items: Athlete[]; nextCursor: string | null } = good(await client.ask('GET', path))
    found.push(...page.items)
    cursor = page.nextCursor
  }
  return found
}
