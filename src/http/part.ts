// What /readyz asks, and how a part says that it is not well. The parts themselves are made in servers.ts.

/** A part that Paceline needs: `check` rejects, with a sentence, when it is not there. */
export interface Part {
  readonly name: string
  /** Reading and answering requests needs it: without it a load balancer sends nobody here. */
  readonly serves?: boolean
  readonly check: () => Promise<void>
}

/** Why a part that can be asked is not well. /readyz names the state with the part: "strava inactive". */
export class PartFailure extends Error {
  readonly state: string

  constructor(state: string, sentence: string) {
    super(sentence)
    this.state = state
  }
}
