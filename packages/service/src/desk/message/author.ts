import { z } from 'zod'
import type { FieldError } from '../../kernel/errors.ts'
import { defineField } from '../../kernel/fields/field.ts'
import { storableText } from '../../kernel/fields/fields.ts'

export interface Author<T> {
  readonly type: T
  /** Of a teammate only. */
  readonly id?: string
  readonly name?: string
}

/** Who wrote something, set at its creation. The deletion of a teammate takes the id and leaves the name. */
export function author<const T extends string>(types: readonly [T, ...T[]], description: string) {
  const schema = z.strictObject({
    type: z.enum(types),
    id: z
      .guid()
      .transform((id) => id.toLowerCase())
      .optional(),
    name: storableText(1, 255).optional(),
  })
  const named = `${types.slice(0, -1).join(', ')} or ${types.at(-1)}`
  return defineField<Author<T>>(
    schema,
    `an object {type, id, name}: type ${named}; id, optional, a teammate; name, optional, 1 to 255 characters`,
    'uuid',
    { required: true, access: 'create', column: 'author_id', description },
    {
      examples: [{ type: 'teammate', name: 'Grace Hopper' }],
      acceptsWithin: {
        type: `one of ${types.join(', ')}`,
        id: 'the id (a UUID) of a teammate, or left out',
        name: 'a string of 1 to 255 characters, or left out',
      },
      stored: ({ id }) => id ?? null,
      reference: { kind: 'teammate', onRemove: 'clear', within: '/id' },
    },
  )
}

/** Only a teammate has an id. */
export function authorErrors({ type, id }: Author<string>): FieldError[] {
  if (id === undefined || type === 'teammate') return []
  const detail = 'only a teammate has an id; leave it out'
  return [{ pointer: '/author/id', code: 'invalid_value', detail }]
}
