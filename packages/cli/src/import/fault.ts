/** What is wrong with a row, as one line. */
export interface RowProblem {
  readonly detail: string
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[] | undefined
}

/** The faults of its fields by their columns' names; where there are none, the problem's own words. */
export function faultText({ detail, errors = [] }: RowProblem): string {
  if (errors.length === 0) return detail
  return errors.map(({ pointer, detail: fault }) => `${columnOf(pointer)}${fault}`).join('; ')
}

/** `/customAttributes/plan` → `customAttributes.plan: `; nothing for the row as a whole. */
function columnOf(pointer: string): string {
  if (pointer === '') return ''
  const steps = pointer.slice(1).split('/')
  return `${steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')}: `
}
