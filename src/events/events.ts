// Tells others what happened, after it was stored, at least once; keeps dead letters. So far the room holds the connection
// to NATS that the distributed bus stands on.
export { openNats, type Nats, type NatsOptions } from './nats.ts'
