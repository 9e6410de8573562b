// Connects an athlete to Strava, here the simulated one, and follows the import of their history to its end.
import { setTimeout as sleep } from 'node:timers/promises'
import { allow, asking, startPaceline } from './local-paceline.ts'

interface Import {
  readonly id: string
  readonly status: 'queued' | 'started' | 'rate_limited' | 'completed' | 'failed'
  readonly message: string
}

interface Activity {
  readonly start: string
  readonly sport: string
  readonly name: string
  readonly distanceMeters: number | null
}

await using paceline = await startPaceline({ activities: 5 })

// The operator creates the athlete, and a token for the programs that ask on the athlete's behalf. It is shown this once.
const operator = asking(paceline.url, paceline.adminToken)
const { id } = await operator<{ id: string }>('POST', '/admin/athletes', { name: 'Ada', timezone: 'Europe/Berlin' })
const { token } = await operator<{ token: string }>('POST', `/admin/athletes/${id}/tokens`)

// The athlete gives consent on the vendor's page, which sends them back to Paceline.
const athlete = asking(paceline.url, token)
const { authorizeUrl } = await athlete<{ authorizeUrl: string }>('POST', '/v1/connections/strava')
await allow(authorizeUrl)
const connections = await athlete<{ items: { vendor: string; scopes: string[] }[] }>('GET', '/v1/connections')
for (const { vendor, scopes } of connections.items) console.log(`Connected: ${vendor}, which grants ${scopes.join(', ')}`)

// An import begins by itself after a consent. Asking for one answers with the one that runs. It pauses when Strava's quota is used up, says
// until when, and goes on by itself.
let run = await athlete<Import>('POST', '/v1/imports', { vendor: 'strava', type: 'full' })
for (let said = ''; ; run = await athlete<Import>('GET', `/v1/imports/${run.id}`)) {
  if (run.message !== said) console.log(run.message)
  if (run.status === 'completed' || run.status === 'failed') break
  said = run.message
  await sleep(200)
}

// A list comes in pages, newest first; `nextCursor` asks for the next one.
const { items } = await athlete<{ items: Activity[]; nextCursor: string | null }>('GET', '/v1/activities?limit=5')
for (const { start, sport, name, distanceMeters } of items)
  console.log(`${start.slice(0, 10)}  ${sport}  ${((distanceMeters ?? 0) / 1000).toFixed(1)} km  ${name}`)
