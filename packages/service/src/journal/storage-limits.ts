/**
 * What an organization may store (specification 14.3, decision 33). Creations beyond are refused; all else goes on, so
 * that there is a way back. The commit function counts rows, and bytes of their bodies, with each commit, in
 * `kind_counters`.
 */
export interface StorageLimits {
  /** Existing rows of all kinds together; null for as many as it likes. */
  readonly rows: number | null
  /** Bytes of their bodies together; null for as many as it likes. */
  readonly bytes: number | null
}

export const noLimits: StorageLimits = { rows: null, bytes: null }
