// Every failure leaves in the contract's shape: a sentence, a code, details where they help; never a stack.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { PacelineError } from '../kernel/errors.ts'
import { tell } from '../kernel/channels.ts'
import { statusOf } from './status.ts'

export function onError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = failureOf(error)
  const status = statusOf[failure.code] ?? 500
  if (status === 500) tell('paceline:fault', { where: `${request.method} ${routeOf(request)}`, error, requestId: request.id })
  const details = failure.details === undefined ? {} : { details: failure.details }
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ error: failure.message, code: failure.code, ...details }))
}

export function onNotFound(request: FastifyRequest): never {
  throw new PacelineError('PACE_NOT_FOUND', `There is no ${request.method} ${pathOf(request.url)}.`)
}

/** The template, not the URL: ids and tokens do not belong in logs and metrics. */
export const routeOf = (request: FastifyRequest): string => request.routeOptions.url ?? 'unmatched'

const pathOf = (url: string): string => url.split('?', 1)[0] ?? url

/** What Fastify itself refuses, by its code. */
const REFUSALS: Readonly<Record<string, PacelineError>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: new PacelineError('PACE_BAD_REQUEST', 'The body is not valid JSON.'),
  FST_ERR_CTP_EMPTY_JSON_BODY: new PacelineError('PACE_BAD_REQUEST', 'The body is empty where JSON was announced.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: new PacelineError(
    'PACE_BAD_REQUEST',
    'The body is not as long as its Content-Length says.',
  ),
  FST_ERR_CTP_BODY_TOO_LARGE: new PacelineError('PACE_TOO_LARGE', 'The body is too large for this route.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new PacelineError('PACE_UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json.'),
  FST_ERR_CTP_INVALID_TYPE: new PacelineError('PACE_UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json.'),
}

function failureOf(error: FastifyError): PacelineError {
  if (error instanceof PacelineError) return error
  const refusal = REFUSALS[error.code]
  if (refusal !== undefined) return refusal
  if (hasZodFastifySchemaValidationErrors(error)) return invalid(error.validationContext, error.validation)
  if (error.statusCode === 400) return new PacelineError('PACE_BAD_REQUEST', 'The request is malformed.', { cause: error })
  return new PacelineError('PACE_INTERNAL', 'Something went wrong inside Paceline; the log has the request id.', { cause: error })
}

interface Complaint {
  readonly instancePath: string
  readonly message?: string
}

// A malformed id in the path is an id of nothing: whether it could exist is not told.
function invalid(where: string | undefined, complaints: readonly Complaint[]): PacelineError {
  if (where === 'params') return new PacelineError('PACE_NOT_FOUND', 'There is no such thing here.')
  const details = complaints.map(({ instancePath, message }) => {
    const field = instancePath.slice(1).replaceAll('/', '.')
    return `${field === '' ? (where ?? 'request') : field}: ${message ?? 'is not valid'}`
  })
  return new PacelineError('PACE_BAD_REQUEST', 'Validation failed', { details })
}
