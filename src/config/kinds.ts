// The kinds of settings: how a text becomes a value, and the words that complete "NAME must be …". Texts arrive trimmed and never empty.
// settings.ts lists the settings.
import { resolve } from 'node:path'
import { z } from 'zod'

export interface Kind<T> {
  readonly expects: string
  readonly schema: z.ZodType<T, string>
  /** The value is never shown, not even when it is wrong. */
  readonly secret?: true
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

const toNumber = (digits: RegExp, range: z.ZodNumber): z.ZodType<number, string> =>
  z.string().regex(digits).transform(Number).pipe(range)

export const whole = (from: number, to: number): Kind<number> => ({
  expects: `a whole number from ${from} to ${to}`,
  schema: toNumber(/^\d{1,15}$/, z.number().min(from).max(to)),
})

export const fraction = (from: number, to: number): Kind<number> => ({
  expects: `a number from ${from} to ${to}`,
  schema: toNumber(/^\d{1,9}(\.\d{1,9})?$|^\.\d{1,9}$/, z.number().min(from).max(to)),
})

export const oneOf = <const W extends string>(words: readonly W[]): Kind<W> => ({
  expects: `one of ${words.join(', ')}`,
  schema: z.enum(words),
})

export const logLevel = oneOf(LOG_LEVELS)

export const host: Kind<string> = {
  expects: 'a host name or an IP address, without a port',
  schema: z.union([z.ipv4(), z.ipv6(), z.hostname()]),
}

export const folder: Kind<string> = { expects: 'a path', schema: z.string().transform(path => resolve(path)) }

export const instant: Kind<number> = {
  expects: 'an instant such as 2026-01-31T12:00:00Z',
  schema: z.iso.datetime({ offset: true }).transform(Date.parse),
}

/** May contain a user and a password, so it is never shown. */
export const serverUrl = (...schemes: readonly string[]): Kind<string> => ({
  expects: `a URL that begins with ${schemes.map(scheme => `${scheme}://`).join(' or ')}`,
  schema: z
    .url({ protocol: new RegExp(`^(?:${schemes.join('|')})$`) })
    .refine(url => schemes.some(scheme => url.toLowerCase().startsWith(`${scheme}://`))),
  secret: true,
})

const httpUrl = serverUrl('http', 'https')

/** Paths are appended to it, so a slash at its end is dropped. */
export const baseUrl: Kind<string> = {
  ...httpUrl,
  expects: `${httpUrl.expects} and has no query`,
  schema: httpUrl.schema.pipe(z.string().regex(/^[^?#]*$/)).transform(url => url.replace(/\/+$/, '')),
}

/** Scheme, host and port only: cookies and the dashboard need the root path. */
export const origin: Kind<string> = {
  ...httpUrl,
  expects: `${httpUrl.expects} and holds a host and at most a port, no path`,
  schema: httpUrl.schema.pipe(z.string().regex(/^[^/]+:\/\/[^/?#@]+\/?$/)).transform(url => new URL(url).origin),
}

export const link = httpUrl

export const text: Kind<string> = { expects: 'a text', schema: z.string() }

export const secret: Kind<string> = { ...text, secret: true }

/** Shorter ones can be guessed; a space or a letter beyond ASCII does not survive an Authorization header. */
export const bearerToken: Kind<string> = {
  expects: 'at least 16 characters, without spaces or accents',
  schema: z.string().regex(/^[\x21-\x7e]{16,512}$/),
  secret: true,
}

const KEY_BYTES = 32

export const keys: Kind<readonly Uint8Array[]> = {
  expects: `${KEY_BYTES} bytes in base64, or several of them separated by commas`,
  schema: listOf(z.string().regex(/^[A-Za-z0-9+/_-]{43}=?$/)).transform(list => list.map(key => Buffer.from(key, 'base64'))),
  secret: true,
}

interface Limits {
  readonly short: number
  readonly day: number
}

export const limits: Kind<Limits> = {
  expects: 'two whole numbers above 0, such as 100,1000: the limit of 15 minutes, then that of the day',
  schema: listOf(toNumber(/^\d{1,9}$/, z.number().min(1)))
    .pipe(z.tuple([z.number(), z.number()]))
    .transform(([short, day]) => ({ short, day })),
}

export const ranking = <const W extends string>(words: readonly W[]): Kind<readonly W[]> => ({
  expects: `some of ${words.join(', ')}, each at most once, separated by commas`,
  schema: listOf(z.enum(words)).refine(list => new Set(list).size === list.length),
})

/** As proxy-addr reads them. */
export const proxies: Kind<readonly string[]> = {
  expects: 'addresses, networks such as 10.0.0.0/8, or the words loopback, linklocal, uniquelocal, separated by commas',
  schema: listOf(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6(), z.enum(['loopback', 'linklocal', 'uniquelocal'])])),
}

/** NATS forbids dots, spaces and wildcards in the name of a durable. */
export const durableName: Kind<string> = {
  expects: 'a name of letters, digits, - and _',
  schema: z.string().regex(/^[\w-]{1,64}$/),
}

function listOf<T>(item: z.ZodType<T, string>): z.ZodType<T[], string> {
  return z
    .string()
    .transform(list => list.split(',').map(part => part.trim()))
    .pipe(z.array(item))
}
