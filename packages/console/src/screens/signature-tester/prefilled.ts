/** What another screen gives the tester, once and within the tab. */
import type { Pasted } from './sample.ts'

let given: Partial<Pasted> = {}

export function prefill(next: Partial<Pasted>): void {
  given = next
}

export function prefilled(): Partial<Pasted> {
  return given
}
