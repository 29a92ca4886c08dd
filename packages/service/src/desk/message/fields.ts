import { z } from 'zod'
import type { FieldError } from '../../kernel/errors.ts'
import { defineField, type StateOf } from '../../kernel/fields/field.ts'
import { choice, storableText, text, timestamp } from '../../kernel/fields/fields.ts'
import { channels, conversationOf, customerOfConversation } from '../conversation/fields.ts'

const authorTypes = ['customer', 'teammate', 'ai', 'system'] as const

interface Attachment {
  readonly fileName: string
  readonly contentType: string
  readonly sizeBytes: number
  readonly url: string
}

const attachmentSchema = z.strictObject({
  fileName: storableText(1, 255),
  contentType: z
    .string()
    .max(255)
    .regex(/^[\w.+-]+\/[\w.+-]+(?:; ?[\w.-]+=[\w."+-]+)*$/),
  sizeBytes: z.int().min(0),
  // Line ends and tabs are dropped.
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_048)
    .check(({ value, issues }) => {
      if (/\p{Cc}/u.test(value))
        issues.push({ code: 'custom', params: { code: 'invalid_format' }, input: value })
    }),
})

/** A message never changes, apart from losing its customer, or the id of its author (specification 4.5). */
export const messageFields = {
  conversationId: conversationOf('The conversation it belongs to.'),
  direction: choice(['inbound', 'outbound'], {
    required: true,
    access: 'create',
    column: 'direction',
    filter: true,
    description: 'inbound from the customer, outbound to the customer.',
  }),
  author: author(authorTypes, 'Who wrote it. Of an inbound message the customer, and of no other.'),
  body: text({
    max: 64_000,
    access: 'create',
    search: true,
    description: 'The text. Required unless there are attachments.',
  }),
  contentType: choice(['text', 'html', 'markdown'], {
    initial: 'text',
    access: 'create',
    description: 'How the body is written.',
  }),
  attachments: defineField<readonly Attachment[]>(
    z.array(attachmentSchema).max(15),
    'a list of at most 15 objects {fileName, contentType, sizeBytes, url}: a media type, a whole number of bytes, an http or https link',
    'text',
    { access: 'create', description: 'Links to files; the files themselves are kept elsewhere.' },
    {
      nullable: false,
      initial: [],
      acceptsWithin: {
        '': 'an object {fileName, contentType, sizeBytes, url}',
        fileName: 'a string of 1 to 255 characters',
        contentType: 'a media type, for example image/png',
        sizeBytes: 'a whole number from 0 up',
        url: 'an http or https link of at most 2048 characters',
      },
    },
  ),
  sentAt: {
    ...timestamp({ access: 'create', description: 'When it was sent. Now, unless given.' }),
    shown: z.string().meta({ format: 'date-time' }),
  },
  channel: {
    ...choice(channels, { access: 'read', description: "The conversation's." }),
    shown: z.enum(channels),
  },
  externalId: text({
    max: 255,
    min: 1,
    access: 'create',
    column: 'external_id',
    unique: true,
    filter: true,
    search: true,
    description: 'Your own id of it.',
  }),
  customerId: customerOfConversation,
}

export type Message = StateOf<typeof messageFields>

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
