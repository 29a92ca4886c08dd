/** The capacity that organizations share. */
export type Limited = 'requests' | 'waiting_readers' | 'memory' | 'statements' | 'offloaded' | 'compression'

/**
 * A limit is reached: `own_share` where the organization has its own share, which is a 429; `all_taken` where all of them together have all, which is
 * a 503. Nothing was done (specification 14.2).
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
