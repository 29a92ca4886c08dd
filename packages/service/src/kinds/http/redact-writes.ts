/**
 * For keys that may not read the kind, responses to writes show only which object was written, and its version
 * (specification 3.3). Responses are stored unredacted, and redacted here by the key's current scopes.
 */
import { readJson } from '@deskwire/sdk/json'
import type { Caller } from '../../auth/authenticator.ts'
import { grants } from '../../auth/scopes.ts'
import { versionOf } from '../../journal/body.ts'
import { errorCatalogue } from '../../kernel/error-catalogue.ts'
import { type Problem, problem } from '../../kernel/errors.ts'
import type { Route } from '../../openapi/api-module.ts'
import type { Kind } from '../model/kind.ts'

/** `redactBody` redacts a response; default: that of a write of one object. */
export function redactWrites(
  kind: Kind,
  redactBody: (body: string) => string = onlyVersion,
): NonNullable<Route<never>['redact']> {
  const mayRead = ({ scopes }: Caller) => grants(scopes, readScope(kind))
  return {
    body: (caller, body) => (mayRead(caller) ? body : redactBody(body)),
    problem: (caller, refusal) => (mayRead(caller) ? null : withoutState(kind, refusal)) ?? refusal,
  }
}

/**
 * A problem instead of a refusal by the kind's own rules, which shows the object's state, or instead of a duplicate,
 * which names the object that has a value; null for other codes.
 */
export function withoutState(kind: Kind, { code, detail }: Pick<Problem, 'code' | 'detail'>): Problem | null {
  if (code === 'duplicate') return problem(code, detail)
  const isOfState = code === 'invalid_transition' || kind.refusals?.includes(code)
  if (!isOfState || errorCatalogue[code].status !== 409) return null
  return problem(
    'invalid_transition',
    `The ${kind.name} does not allow this in its current state. A key with ${readScope(kind)} gets its state, and the allowed actions.`,
  )
}

function readScope({ plural }: Kind): string {
  return `${plural}:read`
}

function onlyVersion(body: string): string {
  const { id, object } = readJson(body) as { id: string; object: string }
  return JSON.stringify({ id, object, updatedAt: versionOf(body) })
}
