// Tells others what happened, after it was stored, at least once; keeps dead letters. So far the room holds the outbox, in which a
// change leaves what is to be told of it, and the connection to NATS that the distributed bus stands on.
export { openNats, type Nats, type NatsOptions } from './nats.ts'
export { Outbox, outboxEraser } from './outbox.ts'
export type { ActivityDeleted, ActivityImported, Event, Payloads, SleepRawReceived, StreamsStored, Subject } from './subjects.ts'
