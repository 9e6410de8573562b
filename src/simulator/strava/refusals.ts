// Strava's error answers: a message and a list of resource, field and code.
import { json, type Answer } from '../answer.ts'

export const errorAnswer = (status: number, message: string, ...[resource, field, code]: [string, string, string] | []): Answer =>
  json(status, { message, errors: resource === undefined ? [] : [{ resource, field, code }] })

export const badRequest = (resource: string, field: string, code: string): Answer =>
  errorAnswer(400, 'Bad Request', resource, field, code)

export const unauthorised = (resource: string, field: string, code: string): Answer =>
  errorAnswer(401, 'Authorization Error', resource, field, code)

export const recordNotFound = (resource: string): Answer => errorAnswer(404, 'Resource Not Found', resource, '', 'not found')

export const nothingHere = (): Answer => errorAnswer(404, 'Resource Not Found')
