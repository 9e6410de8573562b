// The Lock port: one owner at a time for an athlete's backlog. Laws, the same on every adapter:
// - of any number who take at once, one has it; its owner may take it again, and has it for the whole time anew;
// - it ends by itself after `ttlMs` of real time, so that a dead owner does not keep it;
// - only its owner releases it: one whose time is over cannot take it from the next;
// - what cannot be asked fails; it is never had.
export interface Lock {
  take(athleteId: string, owner: string, ttlMs: number): Promise<boolean>
  /** False when it was not, or no longer, the owner's. */
  release(athleteId: string, owner: string): Promise<boolean>
}
