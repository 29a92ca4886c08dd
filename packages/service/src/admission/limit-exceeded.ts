export type Limited = 'requests' | 'waiting_readers' | 'memory' | 'statements' | 'offloaded' | 'compression'

/** `own_share`: the organization holds its share (429); `all_taken`: nothing is free (503). Nothing was done (specification 14.2). */
export class LimitExceeded extends Error {
  readonly reason: 'own_share' | 'all_taken'
  readonly what: Limited

  constructor(reason: 'own_share' | 'all_taken', what: Limited) {
    super(`${reason}: ${what}`)
    this.reason = reason
    this.what = what
  }
}
