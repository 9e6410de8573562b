// The question to whoever grants an account in a browser that is not the athlete's: shall it go to this athlete? The safe answer comes first.
import type { Question } from '../accounts/accounts.ts'
import { escaped, page } from './pages.ts'

export function consentPage({ athleteName, vendorAthleteId, isRevocable, token }: Question, title: string, path: string): string {
  const [athlete, account, vendor] = [athleteName, vendorAthleteId, title].map(escaped)
  return page(`Connect this ${title} account to ${athleteName}?`, [
    `<p>You have allowed Paceline to read the ${vendor} account <b>${account}</b>. The link that led you here belongs to the athlete <b>${athlete}</b>, who will see what comes from that account.</p>`,
    `<p>Connect it if you are ${athlete}, or if ${athlete} may have your data. If somebody else sent you the link, cancel.</p>`,
    `<form method="post" action="${escaped(path)}">`,
    `<input type="hidden" name="token" value="${escaped(token)}">`,
    '<p class="buttons">',
    '<button type="submit" name="decision" value="cancel">Cancel</button>',
    `<button type="submit" name="decision" value="confirm" class="primary">Connect to ${athlete}</button>`,
    '</p>',
    '</form>',
    `<p class="note">Nothing is connected unless you confirm within ten minutes. ${afterCancel(isRevocable, vendor)}</p>`,
  ])
}

const afterCancel = (isRevocable: boolean, vendor = ''): string =>
  isRevocable
    ? `Cancelling takes the permission back at ${vendor}, unless the account is already connected here.`
    : `Cancelling forgets the permission here; ${vendor} lets only you take it back, in your account there.`
