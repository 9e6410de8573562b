// Consents of one athlete at one vendor take turns, from the exchange of the code until its grant is stored. Vendors end the older of two
// grants: were two codes exchanged at once, the older grant could be stored last, and the athlete would have to connect again. The turn is
// a lease: who died leaves one that expires, and whoever was overtaken stores nothing.
import type { Clock } from '../kernel/clock.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Database, Queryable } from '../db/db.ts'
import type { VendorName } from '../vendors/vendors.ts'
import { consentSql as sql } from './consent-sql.ts'

/** For an exchange and the two questions that may follow it. A longer one is overtaken by whoever waits. */
const LEASE_MS = 60_000
const LOOK_AGAIN_MS = 100

export interface Turn {
  /** Whether it still is this caller's, and stays so until the transaction ends. */
  readonly isHeld: (tx: Queryable) => Promise<boolean>
  end(): Promise<void>
}

interface TurnsParts {
  readonly database: Database
  readonly clock: Clock
  readonly newId: NewId
}

/** Waits until no other consent of this athlete is between its exchange and its row. */
export async function takeTurn(
  { database, clock, newId }: TurnsParts,
  whose: { readonly athleteId: string; readonly vendor: VendorName },
): Promise<Turn> {
  const { athleteId, vendor } = whose
  const turn = { athleteId, vendor, owner: newId() }
  const isTaken = async (): Promise<boolean> => {
    const now = clock.now()
    const leaseUntil = new Date(now + LEASE_MS * clock.speed)
    return (await database.query(sql.takeTurn({ ...turn, leaseUntil, now: new Date(now) }))).length > 0
  }
  while (!(await isTaken())) await clock.sleep(LOOK_AGAIN_MS * clock.speed)
  return {
    isHeld: async tx => (await tx.query(sql.holdTurn(turn))).length > 0,
    end: async () => {
      await database.query(sql.endTurn(turn))
    },
  }
}
