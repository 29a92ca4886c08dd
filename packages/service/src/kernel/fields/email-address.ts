/** E-mail addresses in one form, so that two which nobody can tell apart are one (specification 4.3). Pure. */
import { domainToASCII, domainToUnicode } from 'node:url'

/** What shows nothing or changes what others show: controls, format characters, line ends, fillers, the blank of Braille. */
const invisible = /(?!\0)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}\u2800]/u

/** The first invisible character of a text, as `U+200B`; null where there is none. */
export function invisibleIn(text: string): string | null {
  const found = invisible.exec(text)?.[0].codePointAt(0)
  return found === undefined ? null : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The form that an address is stored in; null where its domain is none that a name server could be asked for. */
export function addressForm(address: string): string | null {
  const text = address.normalize('NFC').toLowerCase().normalize('NFC')
  const at = text.lastIndexOf('@') + 1
  const domain = domainForm(text.slice(at))
  return domain === null ? null : text.slice(0, at) + domain
}

/** In Unicode, as people write and search for it, whether it came so or as `xn--…`. */
function domainForm(domain: string): string | null {
  const isAscii = !/[^\p{ASCII}]/u.test(domain)
  if (isAscii && !domain.includes('xn--')) return domain
  // These functions read a host out of a URL: what would end it, or escape, must not be there.
  const ascii = /[/\\?#:%[\]]/.test(domain) ? '' : domainToASCII(domain)
  if (ascii === '') return isAscii ? domain : null
  const shown = domainToUnicode(ascii)
  // Some scripts join letters by an invisible character, which makes another name: there the other spelling tells them apart.
  return invisible.test(shown) || domainToASCII(shown) !== ascii ? ascii : shown
}
