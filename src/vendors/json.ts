// JSON from outside: bytes in, a value or a reason out, never a throw. Integers too large for a double come out as their digits
// in a string, because ids are 64 bits wide and a rounded id is somebody else's. Shapes are the business of shapes.ts.

type Parsed = { readonly outcome: 'ok'; readonly value: unknown } | { readonly outcome: 'malformed'; readonly reason: string }

/** The deepest answer we know has 6 levels; a reviver recurses, and a body of brackets must not end in its stack. */
const DEPTH_MAX = 64
/**
 * What is read takes up to thirty times the memory of its text, most where the text is `{},{},{}`. A hundred megabytes of Garmin's samples
 * are a third of a million objects with four million values.
 */
const CONTAINERS_MAX = 1_000_000
const VALUES_MAX = 6_000_000
/** Garmin's activity details are said to reach 100 MB. */
const BYTES_MAX = 128 * 1024 * 1024

const malformed = (reason: string): Parsed => ({ outcome: 'malformed', reason })

export function parseJson(body: Uint8Array, bytesMax = BYTES_MAX): Parsed {
  if (body.byteLength === 0) return malformed('the body is empty')
  if (body.byteLength > bytesMax) return malformed(`the body has ${body.byteLength} bytes`)
  const excess = excessOf(body)
  if (excess !== undefined) return malformed(excess)
  const text = decode(body)
  return text === undefined ? malformed('not UTF-8') : parseText(text)
}

function decode(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return undefined
    throw error
  }
}

/** The parser's own message quotes the body, which may hold tokens: it is not passed on. */
function parseText(text: string): Parsed {
  try {
    return { outcome: 'ok', value: hasLongInteger(text) ? JSON.parse(text, keepDigits) : JSON.parse(text) }
  } catch (error) {
    if (error instanceof SyntaxError) return malformed('not JSON')
    throw error
  }
}

/** Reviving costs twenty times the parsing, so only a text that has such a number pays for it. */
const hasLongInteger = (text: string): boolean => /(?<![.\d])\d{16}/.test(text)

/** TypeScript's library does not know the third parameter yet. */
function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source
  return source !== undefined && /^-?\d+$/.test(source) ? source : value
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const COMMA = 0x2c
const OPENING: readonly number[] = [0x5b, 0x7b]
const CLOSING: readonly number[] = [0x5d, 0x7d]

/** Looked for in the bytes, before anything is made of them. */
function excessOf(body: Uint8Array): string | undefined {
  let [depth, containers, values] = [0, 0, 0]
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0
    if (byte === QUOTE) at = endOfString(body, at)
    else if (byte === COMMA) values++
    else if (CLOSING.includes(byte)) depth--
    else if (OPENING.includes(byte)) {
      containers++
      if (++depth > DEPTH_MAX) return `nested more than ${DEPTH_MAX} deep`
    }
    if (values > VALUES_MAX || containers > CONTAINERS_MAX) return 'more values than any answer has'
  }
  return undefined
}

function endOfString(body: Uint8Array, start: number): number {
  let at = start + 1
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1
  return at
}
