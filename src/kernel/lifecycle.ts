// A state machine written once, as a table. The types, the SQL CHECKs, the guard trigger, the documentation's diagram and
// the full-matrix test all come from it, so that none of them can disagree with another.
import assert from 'node:assert/strict'

interface StateSpec {
  readonly means: string
  readonly final?: true
  /** Columns that are set in exactly the states that list them. */
  readonly set?: readonly string[]
}
interface MoveSpec<S extends string> {
  readonly from: readonly S[]
  readonly to: S
  readonly when: string
  /** Only an operator makes this move; it alone may leave a final state. */
  readonly byHand?: true
}
export interface Lifecycle<S extends string = string, M extends string = string> {
  /** Names it in the documentation; the SQL table when it is stored. */
  readonly table: string
  /** The column that holds the state. A lifecycle without one lives in the process only. */
  readonly column?: string
  readonly initial: readonly S[]
  readonly states: Readonly<Record<S, StateSpec>>
  readonly moves: Readonly<Record<M, MoveSpec<S>>>
}

export function defineLifecycle<const S extends string, const M extends string>(l: Lifecycle<S, M>): Lifecycle<S, M> {
  for (const [name, move] of entries(l.moves)) {
    for (const from of move.from) {
      if (l.states[from].final) assert(move.byHand, `${l.table}.${name} leaves final state ${from} but is not byHand`)
    }
  }
  const reached = reachable(l)
  for (const [state, spec] of entries(l.states)) {
    assert(reached.has(state), `${l.table}.${state} is unreachable`)
    const leaves = entries(l.moves).some(([, m]) => m.from.includes(state) && !m.byHand)
    assert.equal(leaves, !spec.final, `${l.table}.${state}: final must mean "no move leaves it except by hand"`)
  }
  return Object.freeze(l)
}

function reachable(l: Lifecycle): Set<string> {
  const reached = new Set(l.initial)
  // A Set's iteration also visits what is added on the way.
  for (const state of reached) {
    for (const [, move] of entries(l.moves)) if (move.from.includes(state)) reached.add(move.to)
  }
  return reached
}

/** Every allowed step as `from>to`. */
export const pairs = (l: Lifecycle): string[] =>
  [...new Set(entries(l.moves).flatMap(([, m]) => m.from.map(from => `${from}>${m.to}`)))].toSorted()

const quoted = (names: readonly string[]): string => names.map(name => `'${name}'`).join(', ')

function columnOf(l: Lifecycle): string {
  assert(l.column, `${l.table} is not stored: it names no column`)
  return l.column
}

/** The table's CHECK constraints by name. A CHECK lets null through, so that the first must name it. */
export function checksFor(l: Lifecycle): Record<string, string> {
  const column = columnOf(l)
  const names = Object.keys(l.states)
  const checks: Record<string, string> = {
    [`${l.table}_${column}_known`]: `check (${column} is not null and ${column} in (${quoted(names)}))`,
  }
  for (const set of new Set(entries(l.states).flatMap(([, s]) => s.set ?? []))) {
    const holding = names.filter(name => l.states[name]?.set?.includes(set))
    checks[`${l.table}_${set}_iff`] = `check ((${set} is not null) = (${column} in (${quoted(holding)})))`
  }
  return checks
}

/** A trigger that refuses (SQLSTATE PL001) every step that the table of moves does not hold; a later one takes its place. */
export function guardFor(l: Lifecycle): string {
  const column = columnOf(l)
  const name = `${l.table}_${column}_guard`
  return `create or replace function ${name}() returns trigger language plpgsql as $$
begin
  if old.${column} || '>' || new.${column} not in (${quoted(pairs(l))}) then
    raise exception 'illegal move % -> % on ${l.table}', old.${column}, new.${column} using errcode = 'PL001';
  end if;
  return new;
end $$;
create or replace trigger ${name} before update of ${column} on ${l.table}
  for each row when (old.${column} is distinct from new.${column}) execute function ${name}();`
}

export function mermaidFor(l: Lifecycle): string {
  return [
    'stateDiagram-v2',
    ...l.initial.map(s => `  [*] --> ${s}`),
    ...entries(l.moves).flatMap(([n, m]) => m.from.map(f => `  ${f} --> ${m.to}: ${n}${m.byHand ? ' (by hand)' : ''}`)),
    ...entries(l.states)
      .filter(([, s]) => s.final)
      .map(([s]) => `  ${s} --> [*]`),
  ].join('\n')
}

function entries<K extends string, V>(o: Readonly<Record<K, V>>): [K, V][] {
  return Object.entries(o) as [K, V][]
}
