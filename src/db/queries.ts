// SQL stays SQL: each store's statements are `-- name:` blocks of a .sql file beside it, loaded once by name. A name that
// the file lacks, or a block that nobody asked for, stops the start.
import { readFileSync } from 'node:fs'

export function loadQueries<const N extends string>(file: URL, names: readonly N[]): Readonly<Record<N, string>> {
  const blocks = blocksOf(readFileSync(file, 'utf8'))
  const missing = names.filter(name => !blocks.has(name))
  const extra = [...blocks.keys()].filter(name => !names.includes(name as N))
  if (missing.length + extra.length > 0) {
    throw new Error(`${file.pathname}: missing [${missing.join(', ')}] unexpected [${extra.join(', ')}]`)
  }
  return Object.freeze(Object.fromEntries(blocks)) as Record<N, string>
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
