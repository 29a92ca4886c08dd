import type { Resolver } from '../delivery/target/resolver.ts'
import { parseTargetUrl } from '../delivery/target/url.ts'
import { type Problem, problem, validationFailed } from '../kernel/errors.ts'
import type { CheckTarget } from './endpoints.ts'

/** Resolves a receiver's URL and checks its addresses (specification 9.2). The caller closes the resolver. */
export function createTargetCheck(resolver: Resolver, timeoutMs: number): CheckTarget {
  return async (text) => {
    const url = parseTargetUrl(text)
    if (!url.ok) return refusal(url.error.code, url.error.detail)
    const resolution = await resolver.resolve(url.value.hostname, { fresh: true, timeoutMs })
    switch (resolution.outcome) {
      case 'addresses':
        return null
      case 'not_public':
        return problem('url_not_public', `${resolution.detail}. Give a URL whose every address is public.`, {
          logged: { block: resolution.block },
        })
      case 'no_such_name':
        return refusal(
          'url_not_resolvable',
          `${resolution.detail}. Check the name, and write it in full: the search domains of the system are not used.`,
        )
      case 'failed':
        return refusal(
          'url_not_resolvable',
          `${resolution.detail}. Check that the name servers answer; then send it again.`,
        )
    }
  }
}

function refusal(
  code: 'url_not_https' | 'url_not_resolvable' | 'validation_failed',
  detail: string,
): Problem {
  if (code === 'validation_failed')
    return validationFailed([{ pointer: '/url', code: 'invalid_value', detail }])
  return problem(code, detail)
}
