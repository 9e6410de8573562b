// Every failure leaves in the contract's shape: a sentence, a code, details where they help; never a stack.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { PacelineError } from '../kernel/errors.ts'
import { tell } from '../kernel/channels.ts'
import { escaped, page } from './pages.ts'
import { statusOf } from './status.ts'

export function onError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = judge(error, request)
  return reply.code(statusFor(failure)).type('application/json; charset=utf-8').send(bodyOf(failure))
}

/** For links that people open: a browser gets a page. */
export function onErrorBeforePeople(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (request.headers.accept?.includes('text/html') !== true) return onError(error, request, reply)
  const failure = judge(error, request)
  const sentences = [failure.message, ...(failure.details ?? [])].map(sentence => `<p>${escaped(sentence)}</p>`)
  return reply.code(statusFor(failure)).type('text/html; charset=utf-8').send(page('That did not work', sentences))
}

export function bodyOf({ message, code, details }: PacelineError): string {
  return JSON.stringify({ error: message, code, ...(details !== undefined && { details }) })
}

export function onNotFound(request: FastifyRequest): never {
  throw notFound(request)
}

export const notFound = (request: FastifyRequest): PacelineError =>
  new PacelineError('PACE_NOT_FOUND', `There is no ${request.method} ${pathOf(request.url)}.`)

/** The template, not the URL: ids and tokens do not belong in logs and metrics. */
export const routeOf = (request: FastifyRequest): string => request.routeOptions.url ?? 'unmatched'

const pathOf = (url: string): string => url.split('?', 1)[0] ?? url

/** What Fastify itself refuses, by its code. */
const REFUSALS: Readonly<Record<string, PacelineError>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: new PacelineError('PACE_BAD_REQUEST', 'The body is not valid JSON.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: new PacelineError(
    'PACE_BAD_REQUEST',
    'The body is not as long as its Content-Length says.',
  ),
  FST_ERR_CTP_BODY_TOO_LARGE: new PacelineError('PACE_TOO_LARGE', 'The body is too large for this route.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new PacelineError('PACE_UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json.'),
}

const statusFor = (failure: PacelineError): number => statusOf[failure.code] ?? 500

/** What the client is told. Of a fault it hears only that there was one; the log has the rest. */
function judge(error: unknown, request: FastifyRequest): PacelineError {
  const failure = refusalOf(error)
  if (failure !== undefined) return failure
  tell('paceline:fault', { where: 'http', what: `${request.method} ${routeOf(request)}`, error, requestId: request.id })
  return new PacelineError('PACE_INTERNAL', 'Something went wrong inside Paceline; the log has the request id.')
}

function refusalOf(error: unknown): PacelineError | undefined {
  if (error instanceof PacelineError) return isForRequests(error) ? error : undefined
  if (!(error instanceof Error)) return undefined
  const { code = '', statusCode } = error as Partial<FastifyError>
  if (REFUSALS[code] !== undefined) return REFUSALS[code]
  if (hasZodFastifySchemaValidationErrors(error)) return invalid(error.validationContext, error.validation)
  return statusCode === 400 ? new PacelineError('PACE_BAD_REQUEST', 'The request is malformed.', { cause: error }) : undefined
}

/** The sentence of a code without a status is for the operator, and that of a fault for the log. */
const isForRequests = ({ code }: PacelineError): boolean => statusOf[code] !== undefined && code !== 'PACE_INTERNAL'

interface Complaint {
  readonly instancePath: string
  readonly message?: string
}

// A malformed id in the path names nothing, so it is answered like an unknown one.
function invalid(where: string | undefined, complaints: readonly Complaint[]): PacelineError {
  if (where === 'params') return new PacelineError('PACE_NOT_FOUND', 'There is nothing here with this id or name.')
  const details = complaints.map(({ instancePath, message }) => {
    const field = instancePath.slice(1).replaceAll('/', '.')
    return `${field === '' ? (where ?? 'request') : field}: ${message ?? 'is not valid'}`
  })
  return new PacelineError('PACE_BAD_REQUEST', 'Validation failed', { details })
}
