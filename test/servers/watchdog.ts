// No test process hangs and none is left over: loaded into every file's process, and by global-setup.ts into the runner. A file may
// be as slow as the machine is busy. It hangs when, look after look, no process of its family, neither it nor what it started, was at work.
// What turns round and round is noticed elsewhere: by waiting.ts in a test, by scripts/test.ts in a run.
import { familyOf, wantedMs } from './demand.ts'

const PARENT_LOOK_MS = 1000
const LOOK_MS = Number(process.env.PACELINE_TEST_LOOK_MS ?? 60_000)
/** An idle server wants up to a quarter of a processor where time runs fast; a program at work wants a whole one, also while it must wait for it. */
const IDLE_SHARE = 0.5
/** The runner gives its files the time to speak for themselves. */
const MOST_IDLE_LOOKS = process.env.NODE_TEST_CONTEXT === undefined ? 10 : 5

const parent = process.ppid
setInterval(() => {
  if (process.ppid !== parent) process.exit(1)
}, PARENT_LOOK_MS).unref()

let [idleLooks, wanted, lookedAt] = [0, wantedMs(familyOf(process.pid)), performance.now()]
setInterval(() => {
  const [now, wants] = [performance.now(), wantedMs(familyOf(process.pid))]
  const isIdle = busiest(wants) < IDLE_SHARE * (now - lookedAt)
  ;[idleLooks, wanted, lookedAt] = [isIdle ? idleLooks + 1 : 0, wants, now]
  if (idleLooks === MOST_IDLE_LOOKS) giveUp()
}, LOOK_MS).unref()

/** What the busiest process wanted since the last look. A new one counts with all that it wanted, one that has ended not at all. */
function busiest(wants: ReadonlyMap<number, number>): number {
  return Math.max(...[...wants].map(([pid, ms]) => ms - (wanted.get(pid) ?? 0)))
}

function giveUp(): void {
  const open = process.getActiveResourcesInfo().join(', ')
  const seconds = (MOST_IDLE_LOOKS * LOOK_MS) / 1000
  console.error(`${process.argv[1] ?? 'the run'} has done nothing for ${seconds} s, and has not ended; still open: ${open}`)
  process.exit(1)
}
