/** Normalizes e-mail addresses, so that two which look alike are equal (specification 4.3). Pure. */
import { domainToASCII, domainToUnicode } from 'node:url'

/** Characters that are not visible or change how others display. */
const invisible = /(?!\0)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}\u2800]/u

/** The first invisible character of a text, as `U+200B`; null: none. */
export function invisibleIn(text: string): string | null {
  const found = invisible.exec(text)?.[0].codePointAt(0)
  return found === undefined ? null : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The stored form of an address; null when DNS cannot resolve such a domain. */
export function addressForm(address: string): string | null {
  const text = address.normalize('NFC').toLowerCase().normalize('NFC')
  const at = text.lastIndexOf('@') + 1
  const domain = domainForm(text.slice(at))
  return domain === null ? null : text.slice(0, at) + domain
}

/** In Unicode, as people write and search for it, also when it was sent as `xn--…`. */
function domainForm(domain: string): string | null {
  const isAscii = !/[^\p{ASCII}]/u.test(domain)
  if (isAscii && !domain.includes('xn--')) return domain
  // These functions parse a URL's host, so characters that end or escape a host are rejected.
  const ascii = /[/\\?#:%[\]]/.test(domain) ? '' : domainToASCII(domain)
  if (ascii === '') return isAscii ? domain : null
  const shown = domainToUnicode(ascii)
  // Some scripts join letters with an invisible character: the ASCII form keeps such names distinct.
  return invisible.test(shown) || domainToASCII(shown) !== ascii ? ascii : shown
}
