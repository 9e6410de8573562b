// One line per move of an import: when it begins, pauses, goes on and ends can be read in the log.
import { tell, type Diagnostics } from '../kernel/channels.ts'
import type { ImportStatus } from './job-lifecycle.ts'
import type { ImportJob } from './job-store.ts'

type Moved = Pick<ImportJob, 'id' | 'athleteId' | 'vendor' | 'type'>
type Why = Pick<Diagnostics['paceline:import'], 'cause' | 'retry_after' | 'error'>

/** After the move was committed. */
export function tellMove({ id, athleteId, vendor, type }: Moved, status: ImportStatus, why: Why = {}): void {
  tell('paceline:import', { import_id: id, athlete_id: athleteId, vendor, type, status, ...why })
}
