// The door. Tells others what happened, after it was stored, at least once: the outbox where a change writes its event, the relay that
// publishes it, the bus with its consumers, and the dead letters of what nobody could handle.
export { streamsOf, type Bus, type Delivery, type Headers, type Message, type Published, type Subscription } from './bus.ts'
export { JetStreamBus } from './bus-jetstream.ts'
export { RowBus } from './bus-rows.ts'
export { Consumer, type Consumption, type Held, type Verdict } from './consumer.ts'
export { WRITTEN_AT, writtenAt } from './dead-letter.ts'
export { DeadLetters, type DeadLetter } from './dead-letters.ts'
export { openNats, type Nats, type NatsOptions } from './nats.ts'
export { eventsEraser, Outbox } from './outbox.ts'
export { Relay } from './relay.ts'
export { calendarDay, rawSleep, validateBytes, validateEvent, type Valid } from './schemas.ts'
export { beginSpan, TRACEPARENT } from './traces.ts'
export type {
  ActivityDeleted,
  ActivityImported,
  Event,
  Payloads,
  SleepNormalizedStored,
  SleepRawReceived,
  StreamsStored,
  Subject,
} from './subjects.ts'
