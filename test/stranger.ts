// A program that is not ours on the same NATS server (programs/stranger.ts): what it publishes, and what it finds there.
import assert from 'node:assert/strict'
import { startProgram } from './programs/child.ts'

export const RAW = 'athlete-ally.sleep.raw-received'
export const NORMALIZED = 'athlete-ally.sleep.normalized-stored'

export interface Found {
  readonly seq: number
  readonly subject: string
  readonly headers: Readonly<Record<string, string>>
  readonly data: Buffer
}

export interface DurableFound {
  readonly config: Readonly<Record<string, unknown>>
  readonly num_pending: number
  readonly num_ack_pending: number
}

export interface Stranger {
  /** Resolves when the server has it. */
  publish(data: Uint8Array | string, headers?: Readonly<Record<string, string>>, subject?: string): Promise<void>
  read(stream: string): Promise<readonly Found[]>
  durable(stream: string, name: string): Promise<DurableFound>
  /** Nothing of the stream is owed to it any more. */
  hasDone(stream: string, name: string): Promise<boolean>
  leave(): Promise<void>
}

export async function startStranger(url: string): Promise<Stranger> {
  const child = startProgram('stranger', url)
  assert.equal(await child.line(), 'ready')
  let last: Promise<unknown> = Promise.resolve()
  const ask = async (request: object): Promise<string> => {
    // One at a time, so that each has its own answer.
    const mine = last.then(async () => {
      child.write(`${JSON.stringify(request)}\n`)
      return (await child.line()) ?? assert.fail('the stranger has ended')
    })
    last = mine.catch(() => undefined)
    return await mine
  }
  const durable = async (stream: string, name: string): Promise<DurableFound> =>
    JSON.parse(await ask({ durable: { stream, name } })) as DurableFound
  return {
    publish: async (data, headers = {}, subject = RAW) => {
      await ask({ publish: { subject, headers, data: Buffer.from(data).toString('base64') } })
    },
    read: async stream => {
      const found = JSON.parse(await ask({ read: stream })) as readonly (Omit<Found, 'data'> & { data: string })[]
      return found.map(each => ({ ...each, data: Buffer.from(each.data, 'base64') }))
    },
    durable,
    hasDone: async (stream, name) => {
      const { num_pending: pending, num_ack_pending: held } = await durable(stream, name)
      return pending + held === 0
    },
    leave: () => child.kill('SIGTERM'),
  }
}

let nights = 0

/** A raw event about a night of this person. */
export function rawEvent(userId: string, more: Readonly<Record<string, unknown>> = {}): string {
  nights += 1
  const payload = { userId, date: '2025-10-02', durationMinutes: 420, raw: { source: 'oura', qualityScore: 85 }, ...more }
  return JSON.stringify({ eventId: `strange-${nights}`, payload })
}
