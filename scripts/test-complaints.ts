// A reporter for node --test that has nothing to say when all is well: one line for each test that failed, and for each that did not
// run, because a skipped test is a promise that nobody checked. test.ts repeats these lines at the very end. Between them is a sign of
// life for each test that begins or ends, by which test.ts knows a slow run from one that hangs.
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

/** A line that is for no reader. */
export const SIGN_OF_LIFE = '.'
const LIVELY: ReadonlySet<string> = new Set<TestEvent['type']>(['test:dequeue', 'test:pass', 'test:fail'])

export default async function* complaints(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (LIVELY.has(event.type)) yield `${SIGN_OF_LIFE}\n`
    if (event.type !== 'test:fail' && event.type !== 'test:pass') continue
    const { name, file, line, skip, todo } = event.data
    const where = file === undefined ? '' : ` (${relative(process.cwd(), file)}:${line})`
    if (skip !== undefined || todo !== undefined) yield `did not run: ${oneLine(name)}${where}\n`
    else if (event.type === 'test:fail' && !isBecauseOfSubtests(event.data.details.error))
      yield `failed: ${oneLine(name)}${where}\n`
  }
}

/** The subtests have lines of their own. */
const isBecauseOfSubtests = (error: Error): boolean => 'failureType' in error && error.failureType === 'subtestsFailed'

const oneLine = (name: string): string => name.replaceAll(/\s+/g, ' ')

export const isComplaint = (line: string): boolean => /^(failed|did not run): /.test(line)
