/**
 * What a writer is told of what it wrote: the object as it stands, or, where its key may not read the kind, which object
 * it is and in which version (specification 3.3: `write` does not imply `read`). Answers are decided on, and kept, as
 * if everybody could read; what of them is shown is looked at here alone, by the scopes of the key that is answered now.
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

type Told = NonNullable<Route<never>['told']>

/** What is told of a write of one object, by its stored representation, and of a batch, by what each item came to. */
export function toldOfWrites(kind: Kind): { readonly one: Told; readonly batch: Told } {
  const scope = `${kind.plural}:read`
  const mayRead = ({ scopes }: Caller) => grants(scopes, scope)

  /** In place of a refusal by the kind's own rules, which tells of the object's state: that there is one; otherwise null. */
  function untold(code: Problem['code']): Problem | null {
    const isOfState = code === 'invalid_transition' || kind.refusals?.includes(code)
    if (!isOfState || errorCatalogue[code].status !== 409) return null
    return problem(
      'invalid_transition',
      `The ${kind.name} does not allow this as it stands. How it stands, and what that allows, is told to a key with ${scope}.`,
    )
  }

  function shownItem(item: ShownItem): ShownItem {
    const refusal = item.problem === undefined ? null : untold(item.problem.code)
    if (refusal === null) return item
    const { code, detail } = refusal
    return { ...item, problem: { code, title: errorCatalogue[code].title, detail } }
  }

  const refusal = (caller: Caller, refused: Problem) =>
    (mayRead(caller) ? null : untold(refused.code)) ?? refused
  return {
    one: { answer: (caller, body) => (mayRead(caller) ? body : written(body)), refusal },
    batch: { answer: (caller, body) => (mayRead(caller) ? body : withItems(body, shownItem)), refusal },
  }
}

function written(body: string): string {
  const { id, object } = readJson(body) as { id: string; object: string }
  return JSON.stringify({ id, object, updatedAt: versionOf(body) })
}
