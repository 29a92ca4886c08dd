/** How a rule says that it does not hold. */
import { clipped } from '@deskwire/sdk/clipped'

/** The rule does not hold; the message says what was seen. */
export class Broken extends Error {}

/** @throws Broken unless the condition holds. */
export function require(condition: boolean, seen: () => string): asserts condition {
  if (!condition) throw new Broken(seen())
}

/** @throws Broken unless both are the same as JSON. */
export function requireSame(what: string, found: unknown, wanted: unknown): void {
  const [seen, expected] = [JSON.stringify(found), JSON.stringify(wanted)]
  require(seen === expected, () => `${what}: ${short(seen)} instead of ${short(expected)}`)
}

/** What fits on a line. */
export function short(text: string | undefined): string {
  return clipped(text ?? 'nothing', 120)
}
