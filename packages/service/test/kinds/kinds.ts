/** What validation says, in the few words that tests compare. */
import type { Problem } from '../../src/kernel/errors.ts'
import { parseCreation, parsePatch } from '../../src/kernel/fields/validate.ts'
import type { Result } from '../../src/kernel/outcome.ts'
import type { Kind, State } from '../../src/kinds/model/kind.ts'

/** `/name too_long` for every wrong field; the state when nothing is wrong. */
type Verdict = State | readonly string[]

/** A creation, from the JSON that a client would send. */
export function creation(kind: Kind, json: string): Verdict {
  return verdict(parseCreation(kind, JSON.parse(json)))
}

/** A PATCH of what `before` created, both as JSON. */
export function patched(kind: Kind, before: string, json: string): Verdict {
  const created = parseCreation(kind, JSON.parse(before))
  if (!created.ok) throw new Error(created.error.detail)
  const patch = parsePatch(kind, created.value, JSON.parse(json))
  return verdict(patch.ok ? { ok: true, value: patch.value.draft } : patch)
}

function verdict(result: Result<State, Problem>): Verdict {
  if (result.ok) return result.value
  return (result.error.errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`)
}
