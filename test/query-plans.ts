// How the statements of a room find their rows: a database that notes the plan of every query before it runs it.
import { asQuery, type Database } from '../src/db/database.ts'
import type { Query } from '../src/db/queries.ts'

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

export class QueryPlans {
  readonly #nodes: PlanNode[] = []

  /** The same database; what is asked of it is noted. */
  watch(database: Database): Database {
    return {
      kind: database.kind,
      query: async (query, values) => {
        this.#nodes.push(...(await nodesOf(database, asQuery(query, values))))
        return await database.query(query, values)
      },
      script: text => database.script(text),
      notify: (channel, payload) => database.notify(channel, payload),
      transaction: (work, options) => database.transaction(work, options),
      listen: (channel, listener) => database.listen(channel, listener),
      close: () => database.close(),
    }
  }

  clear(): void {
    this.#nodes.length = 0
  }

  /** Which rows were looked for by an index, and how: `index: condition`. */
  lookups(): string[] {
    return this.#nodes.flatMap(node =>
      node['Index Name'] ? [`${node['Index Name']}: ${node['Index Cond'] ?? 'all of it'}`] : [],
    )
  }

  /** Tables that were read from end to end. */
  wholeTables(): string[] {
    return this.#nodes.filter(node => node['Node Type'] === 'Seq Scan').map(node => node['Relation Name'] ?? '')
  }

  /** Rows that were looked at, fitting or not. PostgreSQL 15 gives a rounded mean where a node runs several times. */
  rowsRead(table: string): number {
    return this.#nodes
      .filter(node => node['Relation Name'] === table)
      .map(node => ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1))
      .reduce((sum, rows) => sum + rows, 0)
  }
}

/** Without sequential scans, which are the cheapest on the few rows of a test. What changes rows is planned and not run. */
async function nodesOf(database: Database, { text, values }: Query): Promise<PlanNode[]> {
  const runs = /^(--.*\n)*select\b/.test(text)
  const rows = await database.transaction(async tx => {
    await tx.script('set local enable_seqscan = off')
    return await tx.query(`explain (analyze ${runs}, format json) ${text}`, values)
  })
  const said = rows[0]?.['QUERY PLAN']
  const [top] = (typeof said === 'string' ? JSON.parse(said) : said) as [{ Plan: PlanNode }]
  return withChildren(top.Plan)
}

const withChildren = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(withChildren)]
