// Requests that carry an athlete's token.
import type { Calls } from '../calls/calls.ts'
import type { OpenVendor, TokenGrant, VendorRequest } from '../vendors/vendors.ts'

export const bearing = <T>(request: VendorRequest<T>, accessToken: string): VendorRequest<T> => ({
  ...request,
  headers: { ...request.headers, authorization: `Bearer ${accessToken}` },
})

/** Revokes a grant at the vendor, where it has a way to. The outcome is ignored: what was kept here goes either way. */
export async function revokeGrant(
  calls: Calls,
  open: OpenVendor | undefined,
  grant: Pick<TokenGrant, 'accessToken' | 'refreshToken'>,
  athleteId: string,
): Promise<void> {
  const request = open?.oauth.revoke(grant)
  if (request === undefined) return
  await calls.call(request.authorised ? bearing(request, grant.accessToken) : request, { callClass: 'live', athleteId })
}
