// Takes credentials and bodies out of whatever is about to be logged: by the name they stand under in an object, and by
// their look inside any text (URLs, headers, JSON, messages and stacks of errors). In doubt it hides. Every pattern is bounded or anchored on a literal, so that a long line costs time in proportion to its length.

const HIDDEN = '[redacted]'

const SECRET_NAME =
  /token|secret|passw|passphrase|authori[sz]ation|cookie|credential|api[-_]?key|private[-_]?key|signature|verifier|auth[-_]?code|raw[-_]?headers/i
const WHOLE_NAME = /^(?:code|auth|pass|pwd|sig|jwt|payload|input|.*body)$/i

/** What programs put under `code` besides an OAuth code: ours, Node's, the system's, an SQLSTATE, a small number. */
const ERROR_CODE = /^(?:(?:PACE|ERR|UND_ERR)_[A-Z0-9_]+|E[A-Z_]{2,20}|[0-9A-Z]{5}|\d{1,3})$/

const isSecret = (name: string): boolean => SECRET_NAME.test(name) || WHOLE_NAME.test(name)

function hide(name: string, value: unknown): unknown {
  if (value === null || typeof value === 'boolean') return value
  const short = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return name === 'code' && ERROR_CODE.test(short) ? value : HIDDEN
}

/** A JSON value without its secrets. In a list, what follows the name of a secret is hidden too: `['cookie', 'sid=1']`. */
export function redact(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => {
      const before: unknown = value[index - 1]
      return typeof before === 'string' && isSecret(before) ? hide(before, item) : redact(item)
    })
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, isSecret(name) ? hide(name, member) : redact(member)]),
  )
}

const STRINGS = ['"', "'", '`'].map(mark => String.raw`${mark}(?:[^${mark}\\]|\\.)*${mark}`)
/** A string inside a JSON text that was itself put into a JSON text. */
const ESCAPED = String.raw`\\+"(?:(?!\\+").)*\\+"`
/** An apostrophe may stand in a URL as it is, so what seems to end a quotation need not end the secret. */
const QUOTED = String.raw`(?:${[...STRINGS, ESCAPED].join('|')})[^\s&"<>]*`
const VALUE = String.raw`(?:${QUOTED}|[^\s&"<>]+)`
const ASSIGNED = String.raw`\\*["']?\s{0,3}(?:[:=]|%3d)\s{0,3}`

const HEADER = new RegExp(String.raw`((?:authori[sz]ation|cookie)${ASSIGNED})(?:${QUOTED}|[^\r\n]+)`, 'gi')

const NAMES = String.raw`token|secret|passw|passphrase|credential|api[-_]?key|private[-_]?key|signature|verifier|auth[-_]?code|(?<![a-z])(?:pass|pwd|sig|jwt)(?![a-z])`
const NAMED = new RegExp(String.raw`((?:${NAMES})[\w-]{0,40}${ASSIGNED})${VALUE}`, 'gi')

const CODE = new RegExp(String.raw`((?<![a-z])code${ASSIGNED})(${VALUE})`, 'gi')

const LOOKS: readonly (readonly [RegExp, string])[] = [
  // A parser repeats the body it could not read; PostgreSQL repeats the row or the key it refused.
  [/(Unexpected token )[^]{0,4096}?( is not valid JSON)/g, `$1${HIDDEN}$2`],
  [/(Failing row contains )\([^]*/g, `$1${HIDDEN}`],
  [/(Key \([^)]{0,500}\)=)\([^]*/g, `$1${HIDDEN}`],
  [HEADER, `$1${HIDDEN}`],
  [NAMED, `$1${HIDDEN}`],
  [/\b(bearer\s{1,3})[^\s"<>]+/gi, `$1${HIDDEN}`],
  [/\b(basic\s{1,3})[A-Za-z0-9+/_-]{12,}=*/gi, `$1${HIDDEN}`],
  // People write passwords into server URLs without encoding them: there the last @ ends the password.
  [/((?:postgres|postgresql|redis|rediss|nats|tls):\/\/)[^\s"<>]{0,1024}@/gi, `$1${HIDDEN}@`],
  [/(:\/\/)[^\s/?#"<>]{1,1024}@/g, `$1${HIDDEN}@`],
  // Our own tokens (accounts/): 32 random bytes are 43 characters.
  [/pace_(?:admin_|ingest_)?[\w-]{40,}/g, HIDDEN],
  [/\beyJ[\w-]{8,512}\.[\w-]{8,4096}\.[\w-]*/g, HIDDEN],
]

export function redactText(text: string): string {
  const seen = LOOKS.reduce((rest, [look, instead]) => rest.replace(look, instead), text)
  return seen.replace(CODE, (match, name: string, value: string) => {
    const bare = value.replace(/^[\\"']+|[\\"'.,;:)}\]]+$/g, '')
    return ERROR_CODE.test(bare) ? match : `${name}${HIDDEN}`
  })
}

/** One line as pino has written it. A line that is not JSON is treated as text. */
export function redactLine(line: string): string {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    return redactText(line)
  }
  return `${JSON.stringify(redact(parsed))}\n`
}
