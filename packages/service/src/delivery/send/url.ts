/** Checks a receiver's URL, before anything is resolved (specification 9.2). */
import { isDecodable } from '../../kernel/origins.ts'
import { fail, ok, type Result } from '../../kernel/outcome.ts'

/** Characters of the URL as it was sent. */
export const maxUrlLength = 2048

interface UrlRefusal {
  readonly code: 'url_not_https' | 'validation_failed'
  /** What is accepted and what is wrong: a sentence, or text after a field's name. */
  readonly detail: string
}

const accepted = `an https URL of at most ${maxUrlLength} characters, without user information or fragment`

export function parseTargetUrl(text: string): Result<URL, UrlRefusal> {
  if (text.length > maxUrlLength) {
    return refuse(`has ${text.length} characters`)
  }
  // The URL parser would drop some of these, and the URL shown would not be the one called.
  if (/[\p{Cc}\s\\]/u.test(text)) {
    return refuse('has white space, a control character or a backslash in it')
  }
  const url = URL.parse(text)
  if (url === null) return refuse('is not a URL')
  if (url.protocol !== 'https:') {
    const detail = `The URL must begin with https://, not ${url.protocol}. Give ${accepted}.`
    return fail({ code: 'url_not_https', detail })
  }
  const authority = /^https:\/\/([^/?#]+)/i.exec(text)?.[1]
  // Of a host that is a dot nothing is left to resolve.
  if (authority === undefined || /^\.+$/.test(url.hostname)) return refuse('names no host after https://')
  if (authority.includes('@')) return refuse('contains user information')
  if (text.includes('#')) return refuse('contains a fragment')
  // Receivers refuse the others, or each read them in its own way.
  if (!isDecodable(url.pathname + url.search)) return refuse('has a % that begins no character in UTF-8')
  if (url.port === '0') return refuse('names port 0, and a port is from 1 to 65535, or none for 443')
  return ok(url)
}

function refuse(what: string): Result<never, UrlRefusal> {
  return fail({ code: 'validation_failed', detail: `must be ${accepted}; this one ${what}` })
}
