/** A rule of the interface that can be tried from outside, and how it is told that it does not hold. */
import { clipped } from '@deskwire/sdk/clipped'
import type { Desk } from './desk.ts'

export interface Rule {
  /** Short, fixed, for scripts: `sync.order`. */
  readonly id: string
  /** What has to hold, as one sentence. */
  readonly says: string
  /** Where it is written: a heading of the specification, without its number. */
  readonly section: string
  /** Tries it with objects of its own. @throws Broken when it does not hold. */
  check(desk: Desk): Promise<void>
}

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
