/** The event types that endpoints can subscribe to, and the scopes that a subscription needs (specification 9.4). */
import { grants } from '../auth/scopes.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import type { Kind } from '../kinds/model/kind.ts'

export interface EventTypes {
  readonly names: readonly string[]
  scopeOf(type: string): string | undefined
  /** 403 when a key with these scopes cannot read the subject of each type; otherwise null. */
  unreadable(scopes: readonly string[], types: readonly string[]): Problem | null
}

export function createEventTypes(kinds: readonly Kind[]): EventTypes {
  const scopes = new Map(
    kinds.flatMap((kind) => Object.keys(kind.events).map((type) => [type, `${kind.plural}:read`] as const)),
  )
  return {
    names: [...scopes.keys()],
    scopeOf: (type) => scopes.get(type),
    unreadable(held, types) {
      const missing = new Set<string>()
      for (const type of types) {
        const scope = scopes.get(type)
        if (scope !== undefined && !grants(held, scope)) missing.add(scope)
      }
      if (missing.size === 0) return null
      return problem(
        'insufficient_scope',
        `An endpoint receives what its registrant may read: this needs a key with ${[...missing].join(', ')} as well.`,
      )
    },
  }
}
