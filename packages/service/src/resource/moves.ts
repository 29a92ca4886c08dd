/** Refusals of moves that a state does not allow. */
import { type Problem, problem } from '../kernel/errors.ts'
import { fail, type Result } from '../kernel/result.ts'

/** 409 `invalid_transition`: names where the object stands and what can be done from there. */
export function refuseMove(
  object: { readonly kind: string; readonly state: string },
  move: string,
  allowed: readonly string[],
): Result<never, Problem> {
  const possible = allowed.length === 0 ? 'none' : allowed.join(', ')
  const detail = `The ${object.kind} is ${object.state}: ${move} is not possible. Possible now: ${possible}.`
  return fail(problem('invalid_transition', detail))
}
