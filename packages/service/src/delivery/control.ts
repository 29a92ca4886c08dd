/** Deliveries without an event of the desk: pings, and messages to a subscription about itself (SEP-3415). */

const types = ['ping', 'gap', 'terminated'] as const

export type ControlType = (typeof types)[number]

/** As a list in SQL. */
export const controlTypes: string = types.map((type) => `'${type}'`).join(', ')

export function isControl(type: string): type is ControlType {
  return (types as readonly string[]).includes(type)
}

const toDisabled: readonly string[] = ['ping', 'terminated']

/** Whether it is sent to a disabled endpoint too. */
export const reachesDisabled = (type: string): boolean => toDisabled.includes(type)

/** As a list in SQL. */
export const reachingDisabled: string = toDisabled.map((type) => `'${type}'`).join(', ')

/** By these statuses the receiver of a subscription refuses an event for good. */
export const finalStatuses: readonly number[] = [410, 413]
