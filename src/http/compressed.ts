// Compresses large answers where the client accepts it. Only routes with large answers use it: a few hundred bytes would grow.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

const compress = promisify(gzip)
/** Numbers compress well at a low level: the next ones take three times as long for a tenth less. */
const LEVEL = 2

/** Whether `accept-encoding` allows gzip: named, or covered by `*`, and not with q=0. */
export function takesGzip(accepted: string | undefined): boolean {
  const quality = new Map(
    (accepted ?? '').split(',').map(each => {
      const [coding = '', ...parameters] = each.split(';').map(part => part.trim().toLowerCase())
      const q = parameters.find(parameter => parameter.startsWith('q='))
      return [coding, q === undefined ? 1 : Number(q.slice(2))]
    }),
  )
  return (quality.get('gzip') ?? quality.get('*') ?? 0) > 0
}

/** Sends JSON that is already text. */
export async function sendJson(request: FastifyRequest, reply: FastifyReply, json: string): Promise<FastifyReply> {
  reply.headers({ 'content-type': 'application/json; charset=utf-8', vary: 'accept-encoding' })
  if (!takesGzip(request.headers['accept-encoding'])) return reply.serializer(String).send(json)
  return reply.header('content-encoding', 'gzip').send(await compress(json, { level: LEVEL }))
}
