// The door. Sleep, from ingest to distribution. So far the room takes nights in: it reads each vendor's data and hands the nights to the bus
// through the outbox, each night once as long as it does not change.
export { SleepIngest, sleepEraser } from './ingest.ts'
export { garminNights, ouraNights, whoopNights, type Night } from './nights.ts'
