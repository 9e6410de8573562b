// The messages that no consumer could handle: listed, shown, and published again. Anybody may have published them, so nothing of them
// reaches the terminal that the terminal would obey.
import { usage, type Arguments, type Command } from '../arguments.ts'
import { asking, good, type Client } from '../client.ts'
import type { CliContext } from '../context.ts'
import { dayAndTime } from './quota.ts'

interface DeadLetter {
  readonly id: string
  readonly subject: string
  readonly originalSubject: string | null
  readonly reason: string
  readonly error: string
  readonly attempt: number
  readonly firstAt: string
  readonly lastAt: string
  readonly payload: string
  readonly payloadEncoding: 'utf8' | 'base64'
  readonly replays: number
  readonly replayedAt: string | null
  readonly action: string | null
}

interface Page {
  readonly items: readonly DeadLetter[]
  readonly nextCursor: string | null
}

/** Each may hold a megabyte. */
const PAGE = 50

export const dlqCommand: Command = {
  name: 'dlq',
  summary: 'Shows the dead letters, messages that no consumer could handle, and publishes them again.',
  words: 'list | show ID | replay [ID]',
  fewestWords: 1,
  mostWords: 2,
  options: {
    subject: {
      type: 'string',
      value: 'S',
      means: "with list and replay: those of this subject, the letters' own or the one to which they were published first",
    },
  },
  run: async (input, context) => {
    const [verb = '', id] = input.words
    const subject = input.text('subject')
    if (verb === 'list' && id === undefined) return await list(subject, input, context)
    if (verb === 'show' && id !== undefined && subject === undefined) return await show(id, input, context)
    if (verb === 'replay' && (id === undefined) !== (subject === undefined)) return await replay({ id, subject }, input, context)
    throw usage(dlqCommand, wrongUse(verb))
  },
}

function wrongUse(verb: string): string {
  if (verb === 'list') return 'dlq list takes --subject, and no id.'
  if (verb === 'show') return 'dlq show needs an id (see `dlq list`), and nothing else.'
  if (verb === 'replay') return 'dlq replay needs an id or --subject, and not both.'
  return `dlq takes list, show or replay, not "${verb}".`
}

async function list(subject: string | undefined, { json }: Arguments, context: CliContext): Promise<number> {
  const { terminal } = context
  const found: DeadLetter[] = []
  let total = 0
  await asking(context, async client => {
    for await (const letters of pages(client, subject)) {
      total += letters.length
      if (json) found.push(...letters)
      else for (const letter of letters) terminal.line(lineOf(letter))
    }
  })
  if (json) return terminal.line(JSON.stringify(found), 0)
  return total === 0 ? terminal.line(`There are no dead letters${subject === undefined ? '' : ` of ${subject}`}.`, 0) : 0
}

/** Newest first. */
async function* pages(client: Client, subject: string | undefined): AsyncGenerator<readonly DeadLetter[]> {
  let cursor: string | null = ''
  while (cursor !== null) {
    const asked = new URLSearchParams({ limit: String(PAGE), ...(subject !== undefined && { subject }) })
    if (cursor !== '') asked.set('cursor', cursor)
    const page: Page = good(await client.ask('GET', `/admin/dead-letters?${asked.toString()}`))
    yield page.items
    cursor = page.nextCursor
  }
}

const lineOf = ({ id, lastAt, reason, originalSubject, subject, error, replays }: DeadLetter): string => {
  const replayed = replays === 0 ? '' : `  (replayed ${replays}×)`
  return harmless(`${id}  ${dayAndTime(lastAt)}  ${reason}  ${originalSubject ?? subject}  ${error}${replayed}`)
}

async function show(id: string, { json }: Arguments, context: CliContext): Promise<number> {
  const letter = await asking(context, async client => good<DeadLetter>(await client.ask('GET', pathOf(id))))
  return context.terminal.line(json ? JSON.stringify(letter) : page(letter), 0)
}

const pathOf = (id: string): string => `/admin/dead-letters/${encodeURIComponent(id)}`

function page(letter: DeadLetter): string {
  const { id, subject, originalSubject, reason, error, attempt, firstAt, lastAt, replays, replayedAt, action } = letter
  const facts = [
    ['dead letter', id],
    ['reason', `${reason}${error === '' ? '' : `: ${error}`}`],
    ['action', action ?? 'Paceline does not know this reason; ask whoever published the letter.'],
    ['subject', subject],
    ['published to', originalSubject ?? 'it does not say; it cannot be replayed'],
    ['deliveries', String(attempt)],
    ['first, last', `${dayAndTime(firstAt)}, ${dayAndTime(lastAt)}`],
    ['replays', replayedAt === null ? 'none' : `${replays}, the last one ${dayAndTime(replayedAt)}`],
  ] as const
  const lines = facts.map(([name, value]) => `${name.padEnd(12)}  ${harmless(value)}`)
  return [...lines, '', ...payloadLines(letter)].join('\n')
}

function payloadLines({ payload, payloadEncoding }: DeadLetter): string[] {
  const bytes = Buffer.byteLength(payload, payloadEncoding)
  if (bytes === 0) return ['The payload is empty.']
  return payloadEncoding === 'base64'
    ? [`The payload is binary; its ${bytes} bytes in base64:`, payload]
    : [`The payload (${bytes} bytes):`, harmless(payload, /[^\P{Cc}\n\t]/gu)]
}

/** Control characters could move the cursor or set the terminal's title; they are shown as in JSON. */
const harmless = (text: string, control: RegExp = /\p{Cc}/gu): string =>
  text.replaceAll(control, found => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)

interface Chosen {
  readonly id: string | undefined
  readonly subject: string | undefined
}

async function replay({ id, subject }: Chosen, { json }: Arguments, context: CliContext): Promise<number> {
  const path = id === undefined ? '/admin/dead-letters/replay' : `${pathOf(id)}/replay`
  const body = subject === undefined ? {} : { body: { subject } }
  const answer = await asking(context, async client => good<{ replayed: number }>(await client.ask('POST', path, body)))
  return context.terminal.line(json ? JSON.stringify(answer) : replayedInWords(answer.replayed), 0)
}

const replayedInWords = (count: number): string =>
  count === 0 ? 'Nothing to replay: every one of them was, or there is none.' : `${count} published again.`
