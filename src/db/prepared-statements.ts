// Statements of the embedded store that are parsed once. PGlite's own `query` parses a statement anew each time, in six steps through
// WebAssembly, and PostgreSQL plans it anew: that is most of what a small one costs. Here a known text is bound and executed in one step, and
// PostgreSQL keeps its plan once a general one is good enough. Not for long: a plan that was right for an empty table is wrong for a full
// one, and without statistics nothing tells PostgreSQL that it has grown.
import { parse, protocol, type PGlite } from '@electric-sql/pglite'
import { hasCode } from '../kernel/errors.ts'
import type { Query } from './queries.ts'

interface Statement {
  readonly name: string
  /** The types of its parameters. */
  readonly types: readonly number[]
  uses: number
}

/** Then a statement is prepared anew. Five executions are planned each time before a plan is kept: a twentieth of the cost. */
const USES_MAX = 100

const { serialize } = protocol

export class PreparedStatements {
  readonly #pglite: PGlite
  readonly #known = new Map<string, Statement>()
  #made = 0

  constructor(pglite: PGlite) {
    this.#pglite = pglite
  }

  async run<T>({ text, values }: Query): Promise<T[]> {
    const { name, types } = await this.#statement(text)
    const bound = values.map((value, index) => this.#textOf(value, types[index] ?? 0))
    const messages = await this.#send([
      serialize.bind({ statement: name, values: bound }),
      serialize.describe({ type: 'P' }),
      serialize.execute({}),
    ]).catch((error: unknown) => {
      // A plan may not answer with other columns than before: the next time it is prepared anew.
      if (hasCode(error, '0A000')) this.#known.delete(text)
      throw error
    })
    return (parse.parseResults(messages, this.#pglite.parsers)[0]?.rows ?? []) as T[]
  }

  /** The schema may have changed, and what a statement answers with it. */
  forget(): void {
    this.#known.clear()
  }

  async #statement(text: string): Promise<Statement> {
    const known = this.#known.get(text)
    if (known !== undefined && known.uses++ < USES_MAX) return known
    const name = known?.name ?? `paceline_${++this.#made}`
    const described = await this.#send([
      serialize.close({ type: 'S', name }),
      serialize.parse({ name, text }),
      serialize.describe({ type: 'S', name }),
    ])
    const statement = { name, types: parse.parseDescribeStatementResults(described), uses: 1 }
    this.#known.set(text, statement)
    return statement
  }

  #textOf(value: unknown, type: number): string | null {
    if (value === null || value === undefined) return null
    const serializer = this.#pglite.serializers[type] ?? String
    return serializer(value)
  }

  /** Nobody else's messages come between. The store's files are written through, so there is nothing to sync afterwards. */
  async #send(messages: readonly Uint8Array[]): Promise<Parameters<typeof parse.parseResults>[0]> {
    const whole = Buffer.concat([...messages, serialize.sync()])
    return await this.#pglite.runExclusive(async () => (await this.#pglite.execProtocol(whole, { syncToFs: false })).messages)
  }
}
