// The door. Sleep, from ingest to distribution: what vendors and other programs tell of a night becomes an event on the bus; the normaliser
// stores it and decides which night counts for a day; that is told as an event of its own.
export { sleepEraser } from './eraser.ts'
export { SleepIngest } from './ingest.ts'
export { IngestRequests } from './ingest-requests.ts'
export { garminNights, ouraNights, whoopNights, type Night } from './nights.ts'
export { normaliser, type NormaliserSettings } from './normaliser.ts'
export { SleepStore, type CountingNight } from './sleep-store.ts'
