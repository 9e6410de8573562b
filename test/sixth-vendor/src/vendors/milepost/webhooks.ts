// Milepost sends us nothing: whatever claims to come from it is refused.
import { NO_HANDSHAKE, refused, type Webhooks } from '../webhooks.ts'

export const webhooksOf = (): Webhooks => ({
  handshake: () => NO_HANDSHAKE,
  prove: () => refused('this vendor sends no webhooks'),
  read: () => ({ outcome: 'malformed', reason: 'this vendor sends no webhooks' }),
})
