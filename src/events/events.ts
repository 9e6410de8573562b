// The door. Publishes events about what was stored, at least once each, and keeps dead letters. So far the room holds the outbox, where a
// change writes its event, and the connection to NATS that the distributed bus will use.
export { openNats, type Nats, type NatsOptions } from './nats.ts'
export { Outbox, outboxEraser } from './outbox.ts'
export type { ActivityDeleted, ActivityImported, Event, Payloads, SleepRawReceived, StreamsStored, Subject } from './subjects.ts'
