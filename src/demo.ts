// What the demo begins with: a sample athlete who is connected to the simulated Strava, so that an import starts by itself, and a
// line in the terminal whenever there is something new to say about it. Consent is given as a browser would give it.
import type { Engine } from './engine.ts'
import type { Clock } from './kernel/clock.ts'
import type { VendorName } from './vendors/vendors.ts'

export interface SampleAthlete {
  readonly athleteId: string
  readonly isNew: boolean
}

export async function sampleAthlete({ accounts }: Engine): Promise<SampleAthlete> {
  const [known] = await accounts.athletes({ limit: 1 })
  const { id } = known ?? (await accounts.createAthlete({ name: 'Sample Athlete', timezone: 'Europe/Berlin' }))
  return { athleteId: id, isNew: known === undefined }
}

/** At every start, because the simulator forgets its tokens when it ends; what the athlete disconnected stays so. */
export async function connectSample(engine: Engine, { athleteId, isNew }: SampleAthlete): Promise<void> {
  const { connections, imports } = engine
  const wanted = isNew ? [{ vendor: 'strava' as const, scopes: [] }] : await connections.list(athleteId)
  for (const { vendor, scopes } of wanted) await connect(engine, athleteId, vendor, scopes)
  // One that met the forgotten token before has failed, and nobody would begin another.
  if (!isNew) await imports.start(athleteId, 'strava', { type: 'incremental' })
}

async function connect(engine: Engine, athleteId: string, vendor: VendorName, scopes: readonly string[]): Promise<void> {
  const { connections } = engine
  const write = scopes.some(scope => scope.includes('write'))
  const authorizeUrl = await connections.start(athleteId, vendor, { write })
  if (authorizeUrl === undefined) return
  await connections.finish(vendor, Object.fromEntries(await approved(engine, authorizeUrl)))
}

/** What the vendor's page sends the athlete back with, when everything that it ticks is left ticked. */
async function approved(engine: Engine, authorizeUrl: string): Promise<URLSearchParams> {
  const { app } = engine
  const url = authorizeUrl.slice(engine.publicUrl().length)
  const page = await app.inject({ url })
  const form = new URLSearchParams({ decision: 'approve' })
  for (const [, scope = ''] of page.body.matchAll(/name="scope" value="([^"]*)" checked/g)) form.append('scope', scope)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await app.inject({ method: 'POST', url, headers, payload: form.toString() })
  return new URL(String(answer.headers.location)).searchParams
}

const LOOK_MS = 1_000

interface Telling {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** `isPassing`: the next one will say the same with another number. */
  readonly say: (line: string, isPassing: boolean) => void
}

/** Until the import that the athlete finds here is over. */
export async function tellImport({ imports }: Engine, athleteId: string, { clock, signal, say }: Telling): Promise<void> {
  let said: string | undefined
  while (!signal.aborted) {
    const [newest] = await imports.list(athleteId, { after: undefined, limit: 1 })
    if (newest !== undefined && newest.message !== said) say(`Strava: ${newest.message}`, newest.job.status === 'started')
    said = newest?.message
    if (newest !== undefined && ['completed', 'failed'].includes(newest.job.status)) return
    await clock.sleep(LOOK_MS, signal).catch(() => undefined)
  }
}
