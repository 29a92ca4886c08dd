/** Examples of a kind for the documents, made from its one example by its own rules. */

import type { Field } from '../../kernel/fields/field.ts'
import type { Json } from '../../openapi/api-module.ts'
import { exampleIdentity, exampleTime } from '../../openapi/api-module.ts'
import { exampleState, explore, sampleValues } from '../model/explore-rules.ts'
import type { Kind, State } from '../model/kind.ts'

/** The example as created, or an object in this state. */
export function exampleObject(kind: Kind, state: State = exampleState(kind)): Json {
  const own = kind.representationOrder.map((name) => [name, shownValue(kind, name, state)])
  return { ...exampleIdentity(kind.name), ...Object.fromEntries(own), updatedAt: exampleTime }
}

/** Fills in what the service sets when it commits. */
function shownValue(kind: Kind, name: string, state: State): unknown {
  const field = kind.fields[name] as Field
  if (field.sequence) return 1
  const isShown = field.shown?.safeParse(state[name]).success ?? true
  return isShown ? state[name] : sampleValues(field).find((value) => value !== null)
}

export function exampleSubject(kind: Kind, type: string): Json {
  const { created, transitions } = explore(kind)
  const made = created.find((state) => kind.rules.events(null, state).includes(type))
  return exampleObject(kind, made ?? transitions.find(({ events }) => events.includes(type))?.after)
}

/** A body with which the action does something. */
export function exampleInput(kind: Kind, action: string): State {
  const made = explore(kind).transitions.flatMap(({ by }) =>
    'action' in by && by.action === action ? [by.input] : [],
  )
  const [first] = made.sort((a, b) => valueCount(b) - valueCount(a))
  if (first === undefined) throw new Error(`${kind.name}: nothing that was tried lets ${action} through`)
  return first
}

function valueCount(input: State): number {
  return Object.values(input).filter((value) => value !== null).length
}
