// The clock of a data folder. At a speed, scaled = anchor + (real − anchor) × speed; speed and anchor are kept in the folder,
// so that its time goes on from where it was and never runs backwards: rows written "tomorrow" would come true twice.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ScaledClock, type Clock } from './clock.ts'
import { hasCode, PacelineError, reasonOf } from './errors.ts'

interface Pace {
  readonly speed: number
  readonly anchor: number
}

interface FolderClockOptions {
  readonly folder: string
  /** Undefined: as the folder has lived so far. */
  readonly speed: number | undefined
  /** Given by the operator, so that two processes agree; else the folder's own. */
  readonly anchor?: number | undefined
}

const FILE = 'clock.json'

export function folderClock(base: Clock, options: FolderClockOptions): Clock {
  const { folder, speed: asked } = options
  const kept = read(folder)
  const speed = asked ?? kept?.speed ?? 1
  const pace = paceAt(speed, base.now(), kept, options)
  if (pace.speed !== kept?.speed || pace.anchor !== kept.anchor) {
    // Another process that starts on the new folder at the same time was first: its time is the folder's.
    if (!write(folder, pace, { isNew: kept === undefined })) return folderClock(base, options)
  }
  return speed === 1 ? base : new ScaledClock(base, speed, pace.anchor)
}

/** Throws when time would run backwards. */
function paceAt(speed: number, now: number, kept: Pace | undefined, { folder, anchor }: FolderClockOptions): Pace {
  const own = { speed, anchor: anchorFor(speed, now, kept) }
  const pace = anchor === undefined ? own : { speed, anchor }
  if (kept === undefined || !isBehind(pace, kept, now)) return pace
  const way = isBehind(own, kept, now)
    ? `at speed ${speed} it would run backwards. Start it with --speed ${kept.speed}, or use another folder.`
    : 'with this PACELINE_CLOCK_ANCHOR it would run backwards. Leave that variable out, or use another folder.'
  const time = new Date(shownBy(kept, now)).toISOString()
  throw new PacelineError(
    'PACE_CLOCK_BACKWARDS',
    `The data folder ${folder} has lived at speed ${kept.speed} and its time is ${time}; ${way}`,
  )
}

const shownBy = ({ speed, anchor }: Pace, real: number): number => anchor + (real - anchor) * speed
const isBehind = (pace: Pace, kept: Pace, now: number): boolean => shownBy(pace, now) < shownBy(kept, now)

/** The anchor at which time goes on without a step. Rounded down, which at a speed above 1 is never behind. */
function anchorFor(speed: number, now: number, kept: Pace | undefined): number {
  if (kept === undefined) return now
  if (speed === kept.speed) return kept.anchor
  return speed === 1 ? now : Math.floor((now * speed - shownBy(kept, now)) / (speed - 1))
}

function read(folder: string): Pace | undefined {
  const file = join(folder, FILE)
  try {
    return paceIn(readFileSync(file, 'utf8'))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw new PacelineError(
      'PACE_CONFIG',
      `The clock of the data folder in ${file} cannot be read: ${reasonOf(error)}. Put it back from a backup, as it belongs to the store.`,
      { cause: error },
    )
  }
}

function paceIn(text: string): Pace {
  const { speed, anchor } = Object(JSON.parse(text)) as Readonly<Record<string, unknown>>
  const pace = { speed: Number(speed), anchor: typeof anchor === 'string' ? Date.parse(anchor) : NaN }
  if (typeof speed !== 'number' || speed < 1 || Number.isNaN(pace.anchor))
    throw new Error('it must hold a speed of at least 1 and an anchor, which is an instant')
  return pace
}

/** False: the file was to be new, and is there meanwhile. */
function write(folder: string, { speed, anchor }: Pace, { isNew }: { isNew: boolean }): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, FILE)
  const own = `${file}.${process.pid}`
  writeFileSync(own, `${JSON.stringify({ speed, anchor: new Date(anchor).toISOString() })}\n`, {
    mode: 0o600,
    // Else a power cut could leave an empty file under the new name.
    flush: true,
  })
  if (isNew) return placed(own, file)
  renameSync(own, file)
  return true
}

/** A link, unlike a rename, does not replace what is there. */
function placed(own: string, file: string): boolean {
  try {
    linkSync(own, file)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  } finally {
    rmSync(own)
  }
}
