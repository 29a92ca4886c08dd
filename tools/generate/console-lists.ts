/** The lists of kinds, scopes, events and fields that the console shows, generated from the kinds. */
import { z } from 'zod'
import { scopeNames } from '../../packages/service/src/auth/scopes.ts'
import { createEventTypes } from '../../packages/service/src/delivery/endpoint/event-types.ts'
import type { Fields } from '../../packages/service/src/kernel/fields/field.ts'
import type { Kind } from '../../packages/service/src/kinds/model/kind.ts'
import { fieldSchema } from '../../packages/service/src/openapi/field-schemas.ts'

export function consoleLists(kinds: readonly Kind[]): string {
  const lists = {
    kinds: kinds.map(({ name, plural }) => ({ name, plural })),
    scopes: scopeNames(kinds),
    eventTypes: createEventTypes(kinds).names,
    fields: Object.fromEntries(kinds.map(({ name, fields }) => [name, comparisons(fields)])),
  }
  const exported = Object.entries(lists).map(
    ([name, list]) => `export const ${name} = ${JSON.stringify(list)} as const\n`,
  )
  return `/** Generated from the kinds by \`npm run generate\`. */\n${exported.join('\n')}`
}

const scalars = ['string', 'number', 'integer', 'boolean']

/** What each field may be compared with: the words that it shows, or a type; null for an object or list. */
function comparisons(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      if (field.schema instanceof z.ZodEnum) return [name, fieldSchema(field, 'output').examples]
      const types = [fieldSchema(field, 'input').type].flat()
      return [name, types.find((type) => scalars.includes(String(type))) ?? null]
    }),
  )
}
