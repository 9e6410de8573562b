// The other side of reaper.ts. Each line is the whole list of what would remain; the last one counts.
import { createInterface } from 'node:readline'
import { remove, signalFamily, type Remains } from './remains.ts'

let last: readonly Remains[] = []
for await (const line of createInterface({ input: process.stdin })) last = JSON.parse(line)
// Processes first: a folder that cannot be removed must not keep a server alive.
for (const { pid } of last) if (pid !== undefined) signalFamily(pid, 'SIGKILL')
for (const remains of last) remove(remains)
