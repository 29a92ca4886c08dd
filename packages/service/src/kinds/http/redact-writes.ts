/**
 * For keys that may not read the kind, responses to writes show only which object was written, and its version
 * (specification 3.3). Responses are stored unredacted, and redacted here by the key's current scopes.
 */
import { readJson } from '@deskwire/sdk/json'
import type { Caller } from '../../auth/look-up.ts'
import { grants } from '../../auth/scopes.ts'
import type { Route } from '../../http/route.ts'
import { versionOf } from '../../journal/body.ts'
import { errorCatalogue } from '../../kernel/error-catalogue.ts'
import { type Problem, problem } from '../../kernel/errors.ts'
import type { Kind } from '../model/kind.ts'
import { type ShownItem, withItems } from './batch-item.ts'

type Redact = NonNullable<Route<never>['redact']>

export function redactWrites(kind: Kind): { readonly one: Redact; readonly batch: Redact } {
  const scope = `${kind.plural}:read`
  const mayRead = ({ scopes }: Caller) => grants(scopes, scope)

  /** A refusal by the kind's own rules shows the object's state: returns a problem that does not, otherwise null. */
  function withoutState(code: Problem['code']): Problem | null {
    const isOfState = code === 'invalid_transition' || kind.refusals?.includes(code)
    if (!isOfState || errorCatalogue[code].status !== 409) return null
    return problem(
      'invalid_transition',
      `The ${kind.name} does not allow this as it stands. How it stands, and what that allows, is told to a key with ${scope}.`,
    )
  }

  function shownItem(item: ShownItem): ShownItem {
    const refusal = item.problem === undefined ? null : withoutState(item.problem.code)
    if (refusal === null) return item
    const { code, detail } = refusal
    return { ...item, problem: { code, title: errorCatalogue[code].title, detail } }
  }

  const redacted = (caller: Caller, refused: Problem) =>
    (mayRead(caller) ? null : withoutState(refused.code)) ?? refused
  return {
    one: { body: (caller, body) => (mayRead(caller) ? body : written(body)), problem: redacted },
    batch: {
      body: (caller, body) => (mayRead(caller) ? body : withItems(body, shownItem)),
      problem: redacted,
    },
  }
}

function written(body: string): string {
  const { id, object } = readJson(body) as { id: string; object: string }
  return JSON.stringify({ id, object, updatedAt: versionOf(body) })
}
