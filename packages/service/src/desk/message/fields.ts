import { z } from 'zod'
import { defineField, type StateOf } from '../../kernel/fields/field.ts'
import { choice, storableText, text, timestamp } from '../../kernel/fields/fields.ts'
import { channels, conversationOf, customerOfConversation } from '../conversation/fields.ts'
import { author } from './author.ts'

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
