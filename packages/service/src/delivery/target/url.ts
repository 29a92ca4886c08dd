/** What a receiver's URL may look like, before anything is resolved (decisions, section 7). */
import { fail, ok, type Result } from '../../kernel/result.ts'

/** Characters of the URL as it was sent. */
export const maxUrlLength = 2048

export interface UrlRefusal {
  readonly code: 'url_not_https' | 'validation_failed'
  /** What is wrong and what is accepted. */
  readonly detail: string
}

const accepted = `an https URL of at most ${maxUrlLength} characters without user information or fragment`

/**
 * The URL of a receiver, or why it cannot be one. Says nothing about where its host leads: only a resolver can
 * (specification, section 2.1).
 */
export function parseTargetUrl(text: string): Result<URL, UrlRefusal> {
  if (text.length > maxUrlLength) {
    return refuse('validation_failed', `has ${text.length} characters; send ${accepted}`)
  }
  // The URL parser would drop some of these silently, and the URL shown would not be the one called.
  if (/[\p{Cc}\s\\]/u.test(text)) {
    return refuse(
      'validation_failed',
      `contains white space, a control character or a backslash; send ${accepted}`,
    )
  }
  const url = URL.parse(text)
  if (url === null) return refuse('validation_failed', `is not a URL; send ${accepted}`)
  if (url.protocol !== 'https:') {
    return refuse('url_not_https', `must begin with https://, not ${url.protocol}; send ${accepted}`)
  }
  const authority = /^https:\/\/([^/?#]+)/i.exec(text)?.[1]
  if (authority === undefined)
    return refuse('validation_failed', `names no host after https://; send ${accepted}`)
  if (authority.includes('@'))
    return refuse('validation_failed', `contains user information; send ${accepted}`)
  if (text.includes('#')) return refuse('validation_failed', `contains a fragment; send ${accepted}`)
  if (url.port === '0')
    return refuse('validation_failed', 'names port 0; send a port from 1 to 65535, or none for 443')
  return ok(url)
}

function refuse(code: UrlRefusal['code'], what: string): Result<never, UrlRefusal> {
  return fail({ code, detail: `The URL ${what}.` })
}
