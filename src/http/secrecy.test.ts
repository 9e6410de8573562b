// What the log holds after requests with secrets in every place that a request has: never a secret, a body or a query.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { z } from 'zod'
import { SystemClock } from '../kernel/clock.ts'
import { listen, openLog, openMetrics } from '../telemetry/telemetry.ts'
import { httpServer } from './http.ts'
import { linkOf, openHttp, tokenOf } from '../../test/http-fixture.ts'

// Words that no pattern of the redaction could know: they stay out because nobody writes them, not because they look secret.
const BODY = 'zebra-in-the-body'
const QUERY = 'zebra-in-the-query'
const GUESS = 'zebra-guessed'

let written = ''
const log = openLog({ level: 'trace', pretty: false, destination: { write: line => void (written += line) } })
const metrics = openMetrics({ clock: new SystemClock(), version: '1.2.3' })
after(listen(log, metrics))
const fixture = await openHttp()
const { app, accounts, as, athleteId } = fixture
after(fixture.close)

const anyone = { config: { audience: 'anyone' } } as const
app.post('/fault', anyone, async request => {
  throw new Error(`cannot refresh with Authorization: Bearer ${request.headers['x-token'] as string}`, {
    cause: new Error(
      `GET /oauth?client_secret=${request.headers['x-token'] as string}&code=${request.headers['x-token'] as string}`,
    ),
  })
})
app.get('/misfit', { ...anyone, schema: { response: { 200: z.object({ count: z.number() }) } } }, async () => {
  return { count: BODY } as unknown as { count: number }
})

const secrets: string[] = []
const secret = (value: string | undefined): string => {
  assert(value)
  secrets.push(value)
  return value
}

async function requests(): Promise<void> {
  const { token } = await tokenOf(accounts, athleteId)
  const link = secret(await linkOf(accounts, athleteId))
  const headers = { authorization: `Bearer ${secret(token)}`, 'content-type': 'application/json' }
  const admin = { ...as.operator, 'content-type': 'application/json' }
  secret(as.operator.authorization?.split(' ')[1])
  secret(as.athleteCookie.cookie?.split('=')[1])

  const signedIn = await app.inject(`/sign-in?token=${link}&next=${QUERY}`)
  secret(/paceline_session=([\w-]+)/.exec(String(signedIn.headers['set-cookie']))?.[1])
  await app.inject(`/sign-in?token=${GUESS}`)
  await app.inject({ url: `/v1/tokens?cursor=${QUERY}`, headers })
  await app.inject({ url: `/v1/tokens?q=${QUERY}`, headers: as.athleteCookie })
  await app.inject({ url: '/v1/tokens', headers: { authorization: `Bearer ${GUESS}` } })
  await app.inject({ url: '/v1/tokens', headers: { authorization: GUESS, cookie: `paceline_session=${GUESS}` } })
  await app.inject({ url: `/nowhere/${GUESS}?token=${QUERY}` })
  await app.inject({ url: `/%zz${GUESS}?token=${QUERY}` })
  await app.inject({ method: 'DELETE', url: `/v1/tokens/${GUESS}`, headers })
  for (const payload of [`{"name":"${BODY}"}`, `{"name":5,"${BODY}":1}`, `{"name":"${BODY}`, BODY, BODY.repeat(5_000)])
    await app.inject({ method: 'POST', url: '/admin/athletes', headers: admin, payload })
  await app.inject({ method: 'POST', url: '/admin/athletes', headers: { ...admin, 'content-type': 'text/plain' }, payload: BODY })
  await app.inject({
    method: 'POST',
    url: `/fault?q=${QUERY}`,
    headers: { ...headers, 'x-token': token },
    payload: `{"a":"${BODY}"}`,
  })
  await app.inject('/misfit')
  const made = await app.inject({ method: 'POST', url: `/admin/athletes/${athleteId}/tokens`, headers: as.operator })
  secret(made.json<{ token: string }>().token)
  const linked = await app.inject({ method: 'POST', url: '/admin/sign-in-link', headers: as.operator })
  secret(linked.json<{ url: string }>().url.split('token=')[1])
}

/** Over a socket, where also what is not HTTP is met. */
async function nonsense(): Promise<void> {
  const server = httpServer(app, { host: '127.0.0.1', port: 0 })
  await server.service.start()
  const socket = connect(server.port(), '127.0.0.1')
  socket.write(`${BODY} /sign-in?token=${GUESS}\r\nAuthorization: Bearer ${GUESS}\r\n\r\n`)
  await text(socket)
  await server.service.stop()
}

test('no secret, no body and no query is ever in the log or in the metrics', async () => {
  await requests()
  await nonsense()
  const lines = written.trimEnd().split('\n')
  assert(lines.length >= 20, 'every request was logged')
  assert(secrets.length >= 7)
  assert(
    lines.some(line => line.includes('cannot refresh')),
    'the fault was logged with its message',
  )
  assert(
    lines.some(line => line.includes('"/sign-in"')),
    'requests are logged by their template',
  )
  const told = `${written}${await metrics.text()}`
  for (const word of [...secrets, BODY, QUERY, GUESS]) assert(!told.includes(word), `${word} was told`)
})
