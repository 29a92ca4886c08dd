/** What of a group commit goes together, and how much of it is under way at once. */

export interface GroupLimits {
  /** Changes of one organization in one call. */
  readonly changes: number
  /** Organizations in one call. */
  readonly organizations: number
  /** Calls of one organization under way at once: one commits while the next is on its way. */
  readonly perOrganization: number
  /** Calls under way at once. */
  readonly calls: number
  /** Beside them, calls under way at once with a unit that reaches far. */
  readonly farCalls: number
  /** Beside those, calls and errands under way at once that are patient, as somebody holds their clock for long. */
  readonly patientCalls: number
  /** How long others may hold the clock until what waits for it fails, in milliseconds. */
  readonly giveUpAfter: number
}

export const defaultLimits: GroupLimits = {
  changes: 32,
  organizations: 16,
  perOrganization: 2,
  calls: 4,
  farCalls: 2,
  patientCalls: 2,
  giveUpAfter: 30_000,
}
