// What a route answers: a status, headers and a body. How it travels is decided in transport.ts. Ids are written with
// `jsonNumber`, because Strava's have 64 bits and do not fit into a JavaScript number.

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

type Headers = Readonly<Record<string, string>>

const rawJson = (JSON as unknown as { readonly rawJSON: (text: string) => unknown }).rawJSON

/** The digits as a JSON number, however many there are. */
export const jsonNumber = (digits: string): unknown => rawJson(digits)

export const json = (status: number, value: unknown, headers: Headers = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(value),
})

export const html = (status: number, page: string): Answer => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
  body: page,
})

export const empty = (status: number, headers: Headers = {}): Answer => ({ status, headers, body: '' })

export const redirect = (location: string): Answer => empty(302, { location })

export const withHeaders = (answer: Answer, headers: Headers): Answer => ({
  ...answer,
  headers: { ...answer.headers, ...headers },
})
