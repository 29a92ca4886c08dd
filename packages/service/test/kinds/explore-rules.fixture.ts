/**
 * Every sort of change that a kind's rules allow, found by trying them on its example: creations, actions, and changes
 * of each field in each state. Tests hold what a kind declares for the documents against these.
 */
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Problem } from '../../src/kernel/errors.ts'
import type { Field, Fields } from '../../src/kernel/fields/field.ts'
import { parseCreation } from '../../src/kernel/fields/validate.ts'
import type { Result } from '../../src/kernel/outcome.ts'
import { madeOnce } from '../../src/kernel/shared-work.ts'
import { exampleState } from '../../src/kinds/docs/kind-schemas.ts'
import type { Kind, State } from '../../src/kinds/model/kind.ts'
import { type Carriers, exampleId, exampleTime } from '../../src/openapi/api-module.ts'

interface Transition {
  /** The field of the PATCH, or the action. */
  readonly by: { readonly field: string } | { readonly action: string; readonly input: State }
  readonly before: State
  readonly after: State
  readonly changed: ReadonlySet<string>
  readonly events: readonly string[]
}

/** Later than every time of an example, so that actions which wait for one can happen. */
const now = '2026-03-01T12:00:00.000Z'

/** Actions in a row to try: enough to undo what another has done. */
const depth = 3

interface Explored {
  readonly created: readonly State[]
  readonly transitions: readonly Transition[]
}

/** Made once: a kind's rules are pure. */
export const explore: (kind: Kind) => Explored = madeOnce((kind) => {
  const created = createdStates(kind)
  const acted = [...followActions(kind, created)]
  const states = new Map(
    [...created, ...acted.map(({ after }) => after)].map((one) => [JSON.stringify(one), one]),
  )
  const sent = sentValues(kind)
  const patched = distinctInChoices(kind, [...states.values()]).flatMap((state) => patches(kind, state, sent))
  return { created, transitions: [...acted, ...patched] }
})

type Acted = Transition & { readonly by: { readonly action: string; readonly input: State } }

/** From these states, and from those that they lead to. */
function* followActions(kind: Kind, start: readonly State[]): Generator<Acted> {
  // Finding what a field accepts takes longer than trying a rule, so it is done once.
  const tried = Object.entries(kind.actions).map(([action, { fields }]) => ({
    action,
    inputs: sampleInputs(fields),
  }))
  const seen = new Set(start.map((state) => JSON.stringify(state)))
  let latest = start
  for (let step = 0; step < depth; step++) {
    const reached: State[] = []
    for (const before of latest) {
      for (const acted of actions(kind, before, tried)) {
        yield acted
        const key = JSON.stringify(acted.after)
        if (!seen.has(key)) reached.push(acted.after)
        seen.add(key)
      }
    }
    latest = reached
  }
}

function* actions(
  kind: Kind,
  before: State,
  tried: readonly { readonly action: string; readonly inputs: readonly State[] }[],
): Generator<Acted> {
  for (const { action, inputs } of tried) {
    for (const input of inputs) {
      const after = kind.actions[action]?.apply(before, input, { now })
      if (after?.ok) yield* transition(kind, { action, input }, before, after.value)
    }
  }
}

/** One state for each combination of words, as rules decide by those. */
function distinctInChoices(kind: Kind, states: readonly State[]): readonly State[] {
  const choices = kind.fieldNames.filter((name) => {
    const field = kind.fields[name]
    return field !== undefined && wordsOf(field) !== null
  })
  return [
    ...new Map(states.map((state) => [JSON.stringify(choices.map((name) => state[name])), state])).values(),
  ]
}

function sentValues(kind: Kind): ReadonlyMap<string, readonly unknown[]> {
  const sent = kind.immutable
    ? []
    : Object.entries(kind.fields).filter(([, { access }]) => access === 'write')
  return new Map(
    sent.map(([name, field]) => {
      const samples = sampleValues(field, kind.example[name])
      if (samples.length < 2)
        throw new Error(`none of the values that are tried are two that ${kind.name}.${name} accepts`)
      return [name, samples]
    }),
  )
}

/** Changes of one field each, from each of its values to each other. */
function patches(kind: Kind, state: State, sent: ReadonlyMap<string, readonly unknown[]>): Transition[] {
  return [...sent].flatMap(([name, samples]) => {
    const pairs = samples.flatMap((from) => samples.map((to) => ({ from, to })))
    return pairs.flatMap(({ from, to }) => {
      const before = { ...state, [name]: from }
      const draft = { ...state, [name]: to }
      const after = kind.rules.update?.(before, draft, new Set([name]), { now })
      if (after === undefined) return transition(kind, { field: name }, before, draft)
      return after.ok ? transition(kind, { field: name }, before, after.value) : []
    })
  })
}

function transition<By extends Transition['by']>(
  kind: Kind,
  by: By,
  before: State,
  after: State,
): (Transition & { readonly by: By })[] {
  const changed = kind.fieldNames.filter((name) => !isDeepStrictEqual(before[name], after[name]))
  if (changed.length === 0) return []
  return [{ by, before, after, changed: new Set(changed), events: kind.rules.events(before, after) }]
}

/** Two of each sort; a field takes those that it accepts. */
const values: readonly unknown[] = [
  'The parcel was found.',
  'The parcel is late.',
  exampleId(1),
  exampleId(2),
  '2026-02-03T14:00:00.000Z',
  '2026-02-03T14:30:00.000Z',
  'ada@example.com',
  'grace@example.com',
  '+4930123456',
  '+4930123457',
  'Europe/Berlin',
  'Europe/Paris',
  'en-GB',
  'de-DE',
  1,
  2,
  true,
  false,
  ['a'],
  ['b'],
  { a: 'b' },
  { a: 'c' },
  { type: 'teammate', name: 'Grace Hopper' },
  { type: 'video', value: 'https://example.com/room' },
]

/** Every word of a choice; samples for another field, with null where it is accepted. */
function sampleValues(field: Field, example?: unknown): readonly unknown[] {
  const words = wordsOf(field)
  const accepted = [example, ...(words ?? values)].flatMap((value) => {
    const parsed = field.schema.safeParse(value)
    return parsed.success ? [parsed.data] : []
  })
  const distinct = accepted.filter(
    (value, n) => accepted.findIndex((one) => isDeepStrictEqual(one, value)) === n,
  )
  const samples = field.nullable ? [null, ...distinct] : distinct
  return words === null ? samples.slice(0, 3) : samples
}

function wordsOf(field: Field): readonly string[] | null {
  return field.schema instanceof z.ZodEnum ? (field.schema.options as string[]) : null
}

/** Bodies for these fields, with every sample of each in some of them. */
function sampleInputs(fields: Fields): readonly State[] {
  return Object.entries(fields).reduce<readonly State[]>(
    (inputs, [name, field]) =>
      inputs.flatMap((input) => sampleValues(field).map((value) => ({ ...input, [name]: value }))),
    [{}],
  )
}

/** The example, created with each word of each choice that can be sent, if necessary with another value too. */
function createdStates(kind: Kind): readonly State[] {
  const sent = Object.entries(kind.fields).filter(([, { access }]) => access !== 'read')
  const varied = sent.flatMap(([name, field]) =>
    (wordsOf(field) ?? []).map((word): State => ({ [name]: word })),
  )
  const additions = sent.flatMap(([name, field]) =>
    sampleValues(field, kind.example[name]).map((value) => ({ [name]: value })),
  )
  return [exampleState(kind), ...varied.flatMap((values) => firstCreated(kind, values, additions))]
}

function firstCreated(kind: Kind, values: State, additions: readonly State[]): readonly State[] {
  for (const other of [{}, ...additions]) {
    const created = createdState(kind, { ...other, ...values })
    if (created.ok) return [created.value]
  }
  return []
}

function createdState(kind: Kind, values: State): Result<State, Problem> {
  const draft = parseCreation(kind, { ...kind.example, ...values })
  return draft.ok ? (kind.rules.create?.(draft.value, { now: exampleTime }) ?? draft) : draft
}

/** The events of a kind's changes, as its rules send them. */
export function exploredCarriers(kind: Kind) {
  const { created, transitions } = explore(kind)
  const of = (changes: readonly Transition[]) => split(changes.map(({ events }) => events))
  return {
    created: split(created.map((state) => kind.rules.events(null, state))),
    updated: of(transitions.filter(({ by }) => 'field' in by)),
    action: (action: string) => of(transitions.filter(({ by }) => 'action' in by && by.action === action)),
    /** Null: only a creation sets it. A field that clients change together with others is judged by itself. */
    field(name: string): Carriers | null {
      const changed = transitions.filter((transition) => transition.changed.has(name))
      const { access, sequence } = kind.fields[name] as Field
      if (changed.length === 0 && (kind.immutable || access === 'create' || sequence)) return null
      if (access !== 'write') return of(changed)
      return of(changed.filter(({ by }) => !('field' in by) || by.field === name))
    },
  }
}

function split(changes: readonly (readonly string[])[]): Carriers {
  const types = [...new Set(changes.flat())].sort()
  const always = types.filter((type) => changes.every((events) => events.includes(type)))
  const sometimes = types.filter((type) => !always.includes(type))
  return { always, sometimes, silent: changes.length === 0 || changes.some((events) => events.length === 0) }
}
