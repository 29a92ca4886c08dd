/** The event types that endpoints can subscribe to, and the scopes that a subscription needs (specification 9.4). */
import { z } from 'zod'
import { grants } from '../../auth/scopes.ts'
import { type Problem, problem, validationFailed } from '../../kernel/errors.ts'
import type { Field } from '../../kernel/fields/field.ts'
import { parseId } from '../../kernel/ids.ts'
import type { Kind } from '../../kinds/model/kind.ts'
import type { Condition } from '../model.ts'

/** The events about endpoints themselves (specification 9.7), each with when it is sent. */
export const endpointEvents = {
  'endpoint.failing': 'an attempt fails for the first time since a success',
  'endpoint.disabling_soon': 'half of the time has passed after which a failing endpoint is disabled',
  'endpoint.disabled': 'an endpoint was disabled; `disabledReason` says why',
  'endpoint.recovered': 'an attempt succeeds after one of the events above',
} as const satisfies Readonly<Record<string, string>>

/** What subscribers and readers of these need. */
export const endpointScope = 'webhooks:read'

/** The `events` of endpoints are types and patterns: `ticket.*` has all events of tickets, `*` all there are. */
export interface EventTypes {
  readonly names: readonly string[]
  /** What an endpoint may subscribe to: the types, then the patterns. */
  readonly subscribable: readonly string[]
  scopeOf(type: string): string | undefined
  /** 403 when a key with these scopes cannot read the subject of each event; otherwise null. */
  unreadable(scopes: readonly string[], events: readonly string[]): Problem | null
  /**
   * 422 when a condition names a field, or compares it with a value, that an object of one of these events cannot have;
   * otherwise null.
   */
  unmeetable(conditions: readonly Condition[], events: readonly string[]): Problem | null
}

/** A value that would be stored in another form would never be met. Objects show more words than a request may set. */
function isShownBy({ schema, shown }: Field, value: unknown): boolean {
  const parsed = (shown instanceof z.ZodEnum ? shown : schema).safeParse(value)
  return parsed.success && parsed.data === value
}

function shownAs({ shown, accepts }: Field): string {
  return shown instanceof z.ZodEnum ? `one of ${shown.options.join(', ')}` : accepts
}

/** What a subscription to a type may be written as. The database has the same rule: `queue/event-patterns.sql`. */
function patternsOf(type: string): readonly string[] {
  return [type, `${type.slice(0, type.indexOf('.'))}.*`, '*']
}

const onId = 'on id must be equals or in, with ids of objects, in lower case'

export function createEventTypes(kinds: readonly Kind[]): EventTypes {
  const scopes = new Map(
    [
      ...kinds.map(({ events, plural }) => [events, `${plural}:read`] as const),
      [endpointEvents, endpointScope] as const,
    ].flatMap(([events, scope]) => Object.keys(events).map((type) => [type, scope] as const)),
  )
  const names = [...scopes.keys()]
  const typesIn = (events: readonly string[]) =>
    names.filter((type) => patternsOf(type).some((pattern) => events.includes(pattern)))
  return {
    unmeetable(conditions, events) {
      const types = typesIn(events)
      const subjects = kinds.filter((kind) => types.some((type) => Object.hasOwn(kind.events, type)))
      // Also a removed object has an id, and an endpoint.
      if (subjects.length === 0 && conditions.some(({ field }) => field !== 'id'))
        return validationFailed([
          {
            pointer: '/conditions',
            code: 'invalid_value',
            detail: 'are about objects, and the endpoint receives events of none: leave them out',
          },
        ])
      const errors = conditions.flatMap(({ field: name, op, value }, index) => {
        const at = `/conditions/${index}`
        if (name === 'id') {
          const isMet =
            (op === 'equals' || op === 'in') &&
            [value].flat().every((one) => typeof one === 'string' && parseId(one) === one)
          return isMet ? [] : [{ pointer: at, code: 'invalid_value' as const, detail: onId }]
        }
        for (const { fields, plural } of subjects) {
          const field = Object.hasOwn(fields, name) ? fields[name] : undefined
          if (field === undefined) {
            const accepted = `must be a field of ${plural}, as the endpoint receives their events: id, ${Object.keys(fields).join(', ')}`
            return [{ pointer: `${at}/field`, code: 'invalid_value' as const, detail: accepted }]
          }
          if (op === 'exists' || op === 'changed') continue
          const wrong = [value].flat().find((one) => !(one === null ? field.nullable : isShownBy(field, one)))
          if (wrong !== undefined)
            return [
              {
                pointer: `${at}/value`,
                code: 'invalid_value' as const,
                detail: `of ${name} of ${plural} must be ${shownAs(field)}, as objects show it`,
              },
            ]
        }
        return []
      })
      return errors.length === 0 ? null : validationFailed(errors)
    },
    names,
    subscribable: [...new Set([...names, ...names.flatMap(patternsOf)])],
    scopeOf: (type) => scopes.get(type),
    unreadable(held, events) {
      const missing = new Set<string>()
      for (const type of typesIn(events)) {
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
