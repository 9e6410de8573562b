// The demo's start: a sample athlete who is connected to the simulated Strava, so that an import starts by itself, and a line in the terminal
// whenever its message changes. Consent is given through the consent page, as a browser would do it.
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

/** Connects at every start, because the simulator loses its tokens when it ends. A vendor that the athlete disconnected stays so. */
export async function connectSample(engine: Engine, { athleteId, isNew }: SampleAthlete): Promise<void> {
  const { connections, imports } = engine
  const wanted = isNew ? [{ vendor: 'strava' as const, scopes: [] }] : await connections.list(athleteId)
  for (const { vendor, scopes } of wanted) await connect(engine, athleteId, vendor, scopes)
  // An import that used the lost token before this has failed, and no other would start soon.
  if (!isNew) await imports.start(athleteId, 'strava', { type: 'incremental' })
}

async function connect(engine: Engine, athleteId: string, vendor: VendorName, scopes: readonly string[]): Promise<void> {
  const { connections } = engine
  const write = scopes.some(scope => scope.includes('write'))
  const authorizeUrl = await connections.start(athleteId, vendor, { write })
  if (authorizeUrl === undefined) return
  await connections.finish(vendor, Object.fromEntries(await approved(engine, authorizeUrl)))
}

/** Approves on the vendor's consent page, with the boxes that it ticks, and gives the query of the redirect. */
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
  /** `isPassing`: the next line replaces this one, with other numbers. */
  readonly say: (line: string, isPassing: boolean) => void
}

/** Shows the progress of the newest import until it ends. */
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
