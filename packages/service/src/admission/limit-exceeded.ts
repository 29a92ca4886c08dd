/** What organizations share. */
export type Limited = 'requests' | 'waiting_readers' | 'memory' | 'statements' | 'offloaded' | 'compression'

/**
 * Thrown where a limit leaves nothing to take: `own_share`, the organization has its own, is answered with 429; `all_taken`, all of them
 * together have everything, with 503. Nothing was done (specification 14.2).
 */
export class LimitExceeded extends Error {
  readonly reason: 'own_share' | 'all_taken'
  readonly what: Limited

  constructor(reason: 'own_share' | 'all_taken', what: Limited) {
    super(`${reason}: ${what}`)
    this.reason = reason
    this.what = what
  }
}
