/**
 * Which event tells of a change of which field, found out rather than declared: the kind's own rules are asked, with
 * states that differ in just that field. A field that no event tells of is sync only (decisions, section 4.1).
 */
import { isDeepStrictEqual } from 'node:util'
import { exampleTime } from '../openapi/examples.ts'
import type { Kind, State } from './kind.ts'
import { exampleState, sampleValues, wordsOf } from './samples.ts'

export interface Carriers {
  /** Sent whenever the field changes. */
  readonly always: readonly string[]
  /** Sent for some changes of it: to some values, or in some states. */
  readonly sometimes: readonly string[]
}

/** One change that the rules allow. */
interface Transition {
  /** The field that was sent. */
  readonly sent: string
  readonly before: State
  readonly after: State
  readonly events: readonly string[]
}

/** By field, the events of its changes; for a field set at creation alone, that of the creation. */
export function eventCarriers(kind: Kind): Readonly<Record<string, Carriers>> {
  const transitions = [...allowedTransitions(kind)]
  const atCreation = { always: kind.rules.events(null, exampleState(kind)), sometimes: [] }
  return Object.fromEntries(
    Object.entries(kind.fields).map(([name, { access, sequence }]) => {
      if (access === 'create' || sequence) return [name, atCreation]
      const own = access === 'write' ? sends(name) : moves(name)
      return [name, carriers(transitions.filter(own))]
    }),
  )
}

/** The events that any change by PATCH can cause. */
export function updateEvents(kind: Kind): readonly string[] {
  const caused = new Set([...allowedTransitions(kind)].flatMap(({ events }) => events))
  return Object.keys(kind.events).filter((type) => caused.has(type))
}

/** What the documents say about a field's events. */
export function carrierSentence(kind: Kind, name: string, { always, sometimes }: Carriers): string {
  const names = (types: readonly string[]) => types.map((type) => `\`${type}\``).join(', ')
  if (always.length === 0 && sometimes.length === 0) return 'No event: sync only.'
  if (kind.fields[name]?.access === 'create') return `Set at creation: ${names(always)}.`
  if (always.length === 0) return `Some changes are told by ${names(sometimes)}, the others by no event.`
  const more = sometimes.length === 0 ? '' : `; some changes also by ${names(sometimes)}`
  return `Told by ${names(always)}${more}.`
}

/** Every change of one field, from states that differ in their choices, that the rules let through. */
function* allowedTransitions(kind: Kind): Iterable<Transition> {
  const writable = kind.fieldNames.filter((name) => kind.fields[name]?.access === 'write')
  for (const state of variations(kind)) {
    for (const name of writable) {
      for (const from of sampleValues(kind, name)) {
        for (const to of sampleValues(kind, name)) {
          const transition = tryChange(kind, { ...state, [name]: from }, name, to)
          if (transition !== null) yield transition
        }
      }
    }
  }
}

/** The example, and the example with each word of each choice. */
function variations(kind: Kind): readonly State[] {
  const state = exampleState(kind)
  const choices = Object.entries(kind.fields).flatMap(([name, field]) =>
    (wordsOf(field) ?? []).map((word) => ({ ...state, [name]: word })),
  )
  return [state, ...choices]
}

function tryChange(kind: Kind, before: State, name: string, to: unknown): Transition | null {
  const draft = { ...before, [name]: to }
  if (isDeepStrictEqual(before, draft)) return null
  const updated = kind.rules.update?.(before, draft, new Set([name]), { now: later })
  const after = updated === undefined ? draft : updated.ok ? updated.value : null
  if (after === null || isDeepStrictEqual(before, after)) return null
  return { sent: name, before, after, events: kind.rules.events(before, after) }
}

/** Later than the example was made. */
const later = exampleTime.replace('T09', 'T10')

function sends(name: string) {
  return ({ sent }: Transition) => sent === name
}

function moves(name: string) {
  return ({ before, after }: Transition) => !isDeepStrictEqual(before[name], after[name])
}

function carriers(transitions: readonly Transition[]): Carriers {
  const types = [...new Set(transitions.flatMap(({ events }) => events))]
  const always = types.filter((type) => transitions.every(({ events }) => events.includes(type)))
  return { always, sometimes: types.filter((type) => !always.includes(type)) }
}
