/** Which events report a change, derived by trying the kind's rules (`transitions.ts`; specification 5.2). */
import type { Carriers } from '../../openapi/api-module.ts'
import { explore, type Transition } from '../model/explore-rules.ts'
import type { Kind } from '../model/kind.ts'

/** The events of a field's changes; of its creation where only that sets it. */
export function fieldCarriers(kind: Kind, name: string): Carriers {
  const changing = changesOf(kind, name)
  return changing.length === 0 && setAtCreation(kind, name) ? creationCarriers(kind) : carriers(changing)
}

export function carrierSentence(kind: Kind, name: string): string {
  const events = fieldCarriers(kind, name)
  const created = changesOf(kind, name).length === 0 && setAtCreation(kind, name)
  return [
    sentenceFor(events, created),
    losesDeleted(kind, name) && events.always.length + events.sometimes.length > 0
      ? 'No event reports that it loses a deleted object: sync only.'
      : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}

function sentenceFor({ always, sometimes, silent }: Carriers, created: boolean): string {
  const all = [...always, ...sometimes]
  if (all.length === 0) return 'No event: sync only.'
  if (created) return `Set at creation: reported by ${named(all, 'disjunction')}.`
  if (silent) return `Reported by ${named(sometimes, 'disjunction')}; some changes by no event: sync only.`
  if (always.length === 0) return `Reported by ${named(sometimes, 'disjunction')}.`
  return `Reported by ${named(always, 'conjunction')}${sometimes.length === 0 ? '' : `, some changes also by ${named(sometimes, 'disjunction')}`}.`
}

function named(types: readonly string[], type: 'conjunction' | 'disjunction'): string {
  return new Intl.ListFormat('en-GB', { type }).format(types.map((name) => `\`${name}\``))
}

/** The events of a creation, with each word of each choice. */
export function creationCarriers(kind: Kind): Carriers {
  return split(explore(kind).created.map((created) => kind.rules.events(null, created)))
}

export function updateCarriers(kind: Kind): Carriers {
  return carriers(explore(kind).transitions.filter(({ by }) => 'field' in by))
}

export function actionCarriers(kind: Kind, action: string): Carriers {
  return carriers(explore(kind).transitions.filter(({ by }) => 'action' in by && by.action === action))
}

/** A field that clients change together with others is judged by changes of itself. */
function changesOf(kind: Kind, name: string): readonly Transition[] {
  const changed = explore(kind).transitions.filter((transition) => transition.changed.has(name))
  if (kind.fields[name]?.access !== 'write') return changed
  return changed.filter(({ by }) => !('field' in by) || by.field === name)
}

function setAtCreation(kind: Kind, name: string): boolean {
  const field = kind.fields[name]
  return kind.immutable || field?.access === 'create' || field?.sequence === true
}

function losesDeleted(kind: Kind, name: string): boolean {
  const { reference = null } = kind.fields[name] ?? {}
  return reference !== null && reference.onRemove !== 'remove'
}

function carriers(changes: readonly Transition[]): Carriers {
  return split(changes.map(({ events }) => events))
}

function split(changes: readonly (readonly string[])[]): Carriers {
  const types = [...new Set(changes.flat())]
  const always = types.filter((type) => changes.every((events) => events.includes(type)))
  const sometimes = types.filter((type) => !always.includes(type))
  return { always, sometimes, silent: changes.some((events) => events.length === 0) }
}
