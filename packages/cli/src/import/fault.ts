/** What is wrong with a row, as one line. */
import { lossesOf } from '@deskwire/sdk/json'

interface RowProblem {
  readonly detail: string
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[] | undefined
}

/** What is wrong with a field, or with the row as a whole where there is no path. */
export interface FieldFault {
  readonly path: readonly string[]
  readonly detail: string
}

/** The faults of its fields by their columns' names; where there are none, the problem's own words. */
export function faultText({ detail, errors = [] }: RowProblem): string {
  if (errors.length === 0) return detail
  return faultsText(errors.map((error) => ({ path: stepsOf(error.pointer), detail: error.detail })))
}

/** `customAttributes.plan: must be …; email: must be …`; no name for the row as a whole. */
export function faultsText(faults: readonly FieldFault[]): string {
  return faults
    .map(({ path, detail }) => (path.length === 0 ? '' : `${path.join('.')}: `) + detail)
    .join('; ')
}

/** `/customAttributes/plan` → `customAttributes`, `plan`. */
export function stepsOf(pointer: string): string[] {
  const steps = pointer.split('/').slice(1)
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/**
 * What reading a JSON text would change without a word: rounded numbers, repeated names. Throws SyntaxError for no
 * JSON.
 */
export function lossFaults(text: string): readonly FieldFault[] {
  return lossesOf(text).map(({ path, fault }) => ({
    path,
    detail: fault ?? 'has its name twice in one object',
  }))
}
