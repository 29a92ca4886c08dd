/** Which events report a change, as kinds declare it (specification 5.2). */
import type { Carriers } from '../../openapi/api-module.ts'
import type { Kind, Reported } from '../model/kind.ts'

/** The events of a field's changes; of its creation where only that sets it. */
export function fieldCarriers(kind: Kind, name: string): Carriers {
  if (isSetAtCreation(kind, name)) return creationCarriers(kind)
  return carriers(kind.documentedEvents.fields?.[name] ?? kind.documentedEvents.otherFields)
}

export function carrierSentence(kind: Kind, name: string): string {
  const events = fieldCarriers(kind, name)
  return [
    sentenceFor(events, isSetAtCreation(kind, name)),
    losesDeleted(kind, name) && !events.silent
      ? 'No event reports that it loses a deleted object: sync only.'
      : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}

function sentenceFor({ always, sometimes, silent }: Carriers, created: boolean): string {
  if (silent) return 'No event: sync only.'
  if (created) return `Set at creation: reported by ${named([...always, ...sometimes], 'disjunction')}.`
  if (always.length === 0) return `Reported by ${named(sometimes, 'disjunction')}.`
  return `Reported by ${named(always, 'conjunction')}${sometimes.length === 0 ? '' : `, some changes also by ${named(sometimes, 'disjunction')}`}.`
}

function named(types: readonly string[], type: 'conjunction' | 'disjunction'): string {
  return new Intl.ListFormat('en-GB', { type }).format(types.map((name) => `\`${name}\``))
}

export function creationCarriers(kind: Kind): Carriers {
  return carriers(kind.documentedEvents.created)
}

/** Of a PATCH: the events of every field that it may change. */
export function updateCarriers(kind: Kind): Carriers {
  const fields = kind.fieldNames.filter((name) => kind.fields[name]?.access === 'write')
  const each = fields.map((name) => fieldCarriers(kind, name))
  const types = [...new Set(each.flatMap(({ always, sometimes }) => [...always, ...sometimes]))]
  const always = types.filter((type) => each.every((one) => one.always.includes(type)))
  const sometimes = types.filter((type) => !always.includes(type))
  return { always, sometimes, silent: each.some(({ silent }) => silent) }
}

export function actionCarriers(kind: Kind, action: string): Carriers {
  return carriers({ always: kind.actions[action]?.events ?? [] })
}

function isSetAtCreation({ immutable, fields, documentedEvents }: Kind, name: string): boolean {
  const field = fields[name]
  if (documentedEvents.fields?.[name] !== undefined) return false
  return immutable || field?.access === 'create' || field?.sequence === true
}

function losesDeleted(kind: Kind, name: string): boolean {
  const { reference = null } = kind.fields[name] ?? {}
  return reference !== null && reference.onRemove !== 'remove'
}

function carriers({ always = [], sometimes = [] }: Reported): Carriers {
  return { always, sometimes, silent: always.length + sometimes.length === 0 }
}
