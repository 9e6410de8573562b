// The applications that are registered at each vendor. As long as none is, the vendor accepts every id with any secret. Once one
// is registered, the vendor is strict. The newest secret is remembered, because some webhooks are signed with it.
import type { VendorName } from './router.ts'

export interface Client {
  readonly id: string
  readonly secret: string
}

type ClientCheck = 'known' | 'unknown_client' | 'wrong_secret'

export class Clients {
  readonly #registered = new Map<VendorName, Map<string, string>>()
  readonly #seen = new Map<VendorName, Client>()

  register(vendor: VendorName, client: Client): void {
    const known = this.#registered.get(vendor) ?? new Map<string, string>()
    this.#registered.set(vendor, known.set(client.id, client.secret))
    this.#seen.set(vendor, client)
  }

  check(vendor: VendorName, client: Client): ClientCheck {
    const known = this.#registered.get(vendor)
    if (client.id === '' || (known !== undefined && !known.has(client.id))) return 'unknown_client'
    if (known !== undefined && known.get(client.id) !== client.secret) return 'wrong_secret'
    this.#seen.set(vendor, client)
    return 'known'
  }

  newest(vendor: VendorName): Client | undefined {
    return this.#seen.get(vendor)
  }
}
