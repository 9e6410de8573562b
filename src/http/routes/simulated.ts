// In the demo the simulated vendors answer on the server's own port, under /_sim/<vendor>/. Their control API moves time and
// causes faults, so it needs the admin token; the simulator says which requests belong to it.
import type { FastifyRequest } from 'fastify'
import { PacelineError } from '../../kernel/errors.ts'
import type { Identity } from '../../accounts/accounts.ts'
import type { App, HttpParts } from '../app.ts'
import { bearerOf } from '../identity.ts'

export interface Simulated {
  readonly fetch: (request: Request) => Promise<Response>
  readonly isControl: (method: string, path: string) => boolean
}

export function simulatedRoutes(app: App, { accounts, simulated }: HttpParts): void {
  if (simulated === undefined) return
  // A scope of its own: vendors take forms, which nothing else here does.
  app.register((scope, _, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => {
      parsed(null, body)
    })
    scope.all('/_sim/*', { config: { audience: 'anyone', foreign: true }, schema: { hide: true } }, async (request, reply) => {
      const asked = requestOf(request)
      if (simulated.isControl(asked.method, new URL(asked.url).pathname)) {
        const identity = await accounts.identify(bearerOf(request.headers) ?? '')
        if (identity?.kind !== 'operator') throw refusal(identity)
      }
      const answer = await simulated.fetch(asked)
      for (const [name, value] of answer.headers) reply.header(name, value)
      return await reply.code(answer.status).send(Buffer.from(await answer.arrayBuffer()))
    })
    done()
  })
}

const refusal = (identity: Identity | undefined): PacelineError =>
  new PacelineError(
    identity === undefined ? 'PACE_UNAUTHORISED' : 'PACE_FORBIDDEN',
    'The control API of the simulator needs the admin token.',
  )

function requestOf({ method, url, headers, host, body }: FastifyRequest): Request {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as [string, string]] : [],
  )
  const bytes = Buffer.isBuffer(body) && !['GET', 'HEAD'].includes(method) ? { body: new Uint8Array(body) } : {}
  return new Request(new URL(url, `http://${host}`), { method, headers: given, ...bytes })
}
