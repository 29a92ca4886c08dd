/** The SDK's class of a kind, with a method for each action. */

import { camelCase, capitalized, schemaName } from '../../packages/service/src/kinds/docs/kind-schemas.ts'
import type { Kind } from '../../packages/service/src/kinds/model/kind.ts'
import { member } from './sdk-type-text.ts'

/** As it is named after `new`. */
export function resourceType(kind: Kind): string {
  return hasActions(kind) ? className(kind) : sharedType(kind)
}

/** Includes the types of their bodies; empty for a kind without actions. */
export function actionTypes(kind: Kind, kinds: readonly Kind[]): string {
  if (!hasActions(kind)) return ''
  const names = Object.keys(kind.actions)
  return `
${kind.isPerson ? exportType(kind, kinds) : ''}${names.map((action) => inputType(kind, action)).join('')}
/** The calls of ${kind.plural}: those of every kind, and its actions. */
export class ${className(kind)} extends ${sharedType(kind)} {
${[...names.map((action) => method(kind, action)), ...(kind.isPerson ? [personMethods(kind)] : [])].join('\n')}}
`
}

function hasActions(kind: Kind): boolean {
  return kind.isPerson || Object.keys(kind.actions).length > 0
}

/** Everything about one person, as one document. */
function exportType(person: Kind, kinds: readonly Kind[]): string {
  const reached = kinds.filter(({ table }) => table.references.some(({ kind }) => kind === person.name))
  return `
/** Everything about one ${person.name}, the oldest first. */
export interface ${schemaName(person)}Export {
  object: '${person.name}_export'
  ${person.name}: ${schemaName(person)}
${reached.map((kind) => `  ${kind.plural}: ${schemaName(kind)}[]\n`).join('')}}
`
}

function personMethods(kind: Kind): string {
  const { name } = kind
  return `  /** Erases a ${name} with everything of theirs. Safe to repeat: it always carries an Idempotency-Key. */
  async erase(id: string, options?: ActionOptions): Promise<Erasure> {
    return this.act(id, 'erase', undefined, options)
  }

  /** Everything about one ${name}. Needs the read scope of every kind in it. */
  async exportOne(id: string, options?: CallOptions): Promise<${schemaName(kind)}Export> {
    return this.send({ method: 'GET', path: \`\${this.address(id)}/export\`, isDocument: true }, options)
  }
`
}

/** `conversations` → `Conversations`. */
function className({ plural }: Kind): string {
  return capitalized(camelCase(plural))
}

/** The shared class: of rows that change, or not. */
function sharedType(kind: Kind): string {
  const name = schemaName(kind)
  if (kind.immutable) return `Resource<${name}, ${name}Input, ${name}Filters>`
  return `ChangeableResource<${name}, ${name}Input, ${name}Patch, ${name}Filters>`
}

function inputName(kind: Kind, action: string): string {
  return `${schemaName(kind)}${capitalized(camelCase(action))}Input`
}

function inputType(kind: Kind, action: string): string {
  const fields = Object.entries(kind.actions[action]?.fields ?? {})
  if (fields.length === 0) return ''
  return `
/** What \`${camelCase(action)}\` of a ${kind.name} takes. */
export interface ${inputName(kind, action)} {
${fields.map(([name, field]) => member(name, field, 'input', field.initial !== undefined)).join('')}}
`
}

function method(kind: Kind, action: string): string {
  const { description, fields } = kind.actions[action] as Kind['actions'][string]
  const given = Object.values(fields)
  const isOptional = given.every(({ initial }) => initial !== undefined)
  const input = given.length === 0 ? '' : `input: ${inputName(kind, action)}${isOptional ? ' = {}' : ''}, `
  const sent = given.length === 0 ? 'undefined' : 'input'
  return `  /** ${description} */
  async ${camelCase(action)}(id: string, ${input}options?: ActionOptions): Promise<${schemaName(kind)}> {
    return this.act(id, '${action}', ${sent}, options)
  }
`
}
