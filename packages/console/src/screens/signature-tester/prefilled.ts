/** What another screen gives the tester, once and within the tab. */
import type { Pasted } from './sample.ts'

interface Given extends Partial<Pasted> {
  /** Unix seconds: judged as at this time. */
  readonly at?: number
}

let given: Given = {}

export function prefill(next: Given): void {
  given = next
}

export function prefilled(): Given {
  return given
}
