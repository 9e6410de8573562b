// The clock of a data folder. At a speed, scaled = anchor + (real − anchor) × speed; speed and anchor are kept in the folder,
// so that its time goes on from where it was and never runs backwards: rows written "tomorrow" would come true twice.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ScaledClock, type Clock } from './clock.ts'
import { hasCode, PacelineError } from './errors.ts'

interface Pace {
  readonly speed: number
  readonly anchor: number
}

export interface FolderClockOptions {
  readonly folder: string
  /** Undefined: as the folder has lived so far. */
  readonly speed: number | undefined
  /** Given by the operator, so that two processes agree; else the folder's own. */
  readonly anchor?: number | undefined
}

const FILE = 'clock.json'

export function folderClock(base: Clock, { folder, speed: asked, anchor }: FolderClockOptions): Clock {
  const now = base.now()
  const kept = read(folder)
  const speed = asked ?? kept?.speed ?? 1
  const pace = { speed, anchor: anchor ?? anchorFor(speed, now, kept) }
  const reached = kept && shownBy(kept, now)
  if (reached !== undefined && shownBy(pace, now) < reached) {
    const time = new Date(reached).toISOString()
    throw new PacelineError(
      'PACE_CLOCK_BACKWARDS',
      `The data folder ${folder} has lived at speed ${kept?.speed} and its time is ${time}; at speed ${speed} it would run backwards. Start it with --speed ${kept?.speed}, or use another folder.`,
    )
  }
  write(folder, pace)
  return speed === 1 ? base : new ScaledClock(base, speed, pace.anchor)
}

const shownBy = ({ speed, anchor }: Pace, real: number): number => anchor + (real - anchor) * speed

/** The anchor at which time goes on without a step. Rounded down, which at a speed above 1 is never behind. */
function anchorFor(speed: number, now: number, kept: Pace | undefined): number {
  if (kept === undefined) return now
  if (speed === kept.speed) return kept.anchor
  return speed === 1 ? now : Math.floor((now * speed - shownBy(kept, now)) / (speed - 1))
}

function read(folder: string): Pace | undefined {
  try {
    const { speed, anchor } = JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as { speed: number; anchor: string }
    return { speed, anchor: Date.parse(anchor) }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function write(folder: string, { speed, anchor }: Pace): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, FILE)
  writeFileSync(`${file}.${process.pid}`, `${JSON.stringify({ speed, anchor: new Date(anchor).toISOString() })}\n`, {
    mode: 0o600,
  })
  renameSync(`${file}.${process.pid}`, file)
}
