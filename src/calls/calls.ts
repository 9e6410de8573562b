// Makes one call to a vendor: within its deadlines, under a permit for every attempt, at most once more when that can do no harm.
// How a vendor speaks and what its answers mean is vendors/'s; who may call, and when, is the permit source's (quota); whose
// token it carries is accounts'. Laws:
// - every attempt has a permit before it leaves; one that never left gives it back; one whose fate is unknown has spent it; a permit
//   that comes within seconds is waited for, without keeping a slot from others; who has no turn in the whole time has no permit either;
// - an answer of the vendor is an outcome, never an exception; only the caller's own cancelling rejects, with its reason;
// - one retry, jittered, for `transient` and `timeout` on idempotent requests; a vendor's "too many" is never retried in place;
// - a redirect to another host is refused: the token would go there too.
export { Calls, type CallOptions, type CallsParts } from './caller.ts'
export type { CallOutcome } from './outcome.ts'
export type { Fetch } from './wire.ts'
