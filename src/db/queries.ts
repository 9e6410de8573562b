// SQL stays SQL: each store's statements are `-- name:` blocks of a .sql file beside it, loaded once by name. Their parameters have
// names too (`$athleteId`) and get their positions here. The store lists its blocks with their parameters, so that the compiler checks
// every call. A block or a parameter that only the file or only the store knows stops the start.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

/** A statement with positions, and the values for them. */
export interface Query {
  readonly text: string
  readonly values: readonly unknown[]
}

/** The parameters of each block. */
type Blocks = Readonly<Record<string, readonly string[]>>
type Given<P extends readonly string[]> = P extends readonly [] ? [] : [values: Readonly<Record<P[number], unknown>>]

/** A value that is undefined becomes null. */
export type Queries<B extends Blocks> = { readonly [Name in keyof B]: (...given: Given<B[Name]>) => Query }

export function loadQueries<const B extends Blocks>(file: URL, expected: B): Queries<B> {
  const blocks = blocksOf(readFileSync(file, 'utf8'))
  assertSame(`${file.pathname}: blocks`, [...blocks.keys()], Object.keys(expected))
  const queries = Object.entries(expected).map(([name, parameters]) => {
    const statement = positioned(blocks.get(name) ?? '')
    assertSame(`${file.pathname}: parameters of ${name}`, statement.parameters, parameters)
    return [name, queryOf(name, statement)] as const
  })
  return Object.freeze(Object.fromEntries(queries)) as Queries<B>
}

export function blocksOf(text: string): Map<string, string> {
  const blocks = text.split(/^-- name: /m).slice(1)
  return new Map(
    blocks.map(block => {
      const end = block.indexOf('\n')
      return [block.slice(0, end).trim(), block.slice(end + 1).trim()]
    }),
  )
}

export interface Statement {
  readonly text: string
  /** In the order of their positions. */
  readonly parameters: readonly string[]
}

// Comments, strings, quoted names and dollar quotes are passed over; what is left of `$name` is a parameter.
const TOKEN = /--.*|\/\*[^]*?\*\/|'[^']*'|"[^"]*"|(\$(?:[a-z_]\w*)?\$)[^]*?\1|(?<![\w$])\$(\w+)/gi

export function positioned(block: string): Statement {
  const parameters: string[] = []
  const text = block.replace(TOKEN, (token: string, _quote: string | undefined, name: string | undefined) => {
    if (name === undefined) return token
    if (!parameters.includes(name)) parameters.push(name)
    return `$${parameters.indexOf(name) + 1}`
  })
  return { text, parameters }
}

function queryOf(block: string, { text, parameters }: Statement): (given?: Readonly<Record<string, unknown>>) => Query {
  return (given = {}) => {
    const values = parameters.map(name => {
      assert(name in given, `${block}: no value for $${name}`)
      return given[name] ?? null
    })
    if (Object.keys(given).length > values.length) assertSame(`values for ${block}`, Object.keys(given), parameters)
    return { text, values }
  }
}

function assertSame(what: string, found: readonly string[], expected: readonly string[]): void {
  const missing = expected.filter(name => !found.includes(name))
  const extra = found.filter(name => !expected.includes(name))
  assert(missing.length + extra.length === 0, `${what}: missing [${missing.join(', ')}] unexpected [${extra.join(', ')}]`)
}
