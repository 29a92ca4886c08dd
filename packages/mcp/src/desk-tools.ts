/** Tools for customers, conversations and tickets. */
import { clipped } from '@deskwire/sdk/clipped'
import { type Api, type Json, refusal } from './api.ts'
import {
  id,
  objectOf,
  propertiesOf,
  requiredBy,
  shown,
  type Tool,
  type ToolParts,
  whole,
  words,
} from './tool.ts'
import { writeTool } from './write-tool.ts'

export function deskTools(parts: ToolParts): readonly Tool[] {
  return [
    find(parts),
    readConversation(parts),
    writeTool(parts, {
      name: 'open_ticket',
      title: 'Open a ticket',
      description: 'Opens a ticket for a customer, for example from a conversation.',
      kind: 'tickets',
      effect: 'adds',
      properties: propertiesOf(parts, 'TicketCreate'),
      required: requiredBy(parts, 'TicketCreate'),
      write: ({ dryRun, idempotencyKey, ...body }) => ({ body }),
    }),
    writeTool(parts, {
      name: 'change_ticket',
      title: 'Change a ticket',
      description:
        'Changes status, priority, assignee or other fields of a ticket. Fields that are left out stay as they are.',
      kind: 'tickets',
      effect: 'changes',
      properties: { ticketId: id('The ticket.'), ...propertiesOf(parts, 'TicketPatch') },
      required: ['ticketId'],
      write: ({ ticketId, dryRun, expectedVersion, ...body }) => ({ id: ticketId, body }),
    }),
    writeTool(parts, {
      name: 'reply',
      title: 'Reply to the customer',
      description:
        'Records an outbound message in a conversation, written by an AI. The program that sends messages of this desk brings it to the customer.',
      kind: 'messages',
      effect: 'sends',
      properties: {
        ...propertiesOf(parts, 'MessageCreate', ['direction', 'author', 'sentAt', 'externalId']),
        authorName: words('The name that the message is signed with.'),
      },
      required: ['conversationId', 'body'],
      write: ({ dryRun, idempotencyKey, authorName: name, ...message }) => ({
        body: {
          ...message,
          direction: 'outbound',
          author: { type: 'ai', ...(name === undefined ? {} : { name }) },
        },
      }),
    }),
    writeTool(parts, {
      name: 'add_note',
      title: 'Add an internal note',
      description:
        'Writes a note on a conversation for those who work at the desk. The customer never sees it.',
      kind: 'notes',
      effect: 'adds',
      properties: {
        ...propertiesOf(parts, 'NoteCreate', ['author']),
        authorName: words('The name that the note is signed with.'),
      },
      required: requiredBy(parts, 'NoteCreate', ['author']),
      write: ({ dryRun, idempotencyKey, authorName: name, ...note }) => ({
        body: { ...note, author: { type: 'ai', ...(name === undefined ? {} : { name }) } },
      }),
    }),
    writeTool(parts, {
      name: 'hand_to_human',
      title: 'Hand a conversation to a person',
      description:
        'Escalates a conversation that an AI handles. Use it when unsure, or when asked for a person.',
      kind: 'conversations',
      action: 'escalate',
      effect: 'changes',
      properties: { conversationId: id('The conversation.') },
      required: ['conversationId'],
      write: ({ conversationId }) => ({ id: conversationId, body: {} }),
    }),
    writeTool(parts, {
      name: 'resolve',
      title: 'Resolve a conversation',
      description:
        'Closes a conversation; an inbound message opens it again. A ticket is resolved by change_ticket with status resolved.',
      kind: 'conversations',
      action: 'resolve',
      effect: 'changes',
      properties: { conversationId: id('The conversation.') },
      required: ['conversationId'],
      write: ({ conversationId }) => ({ id: conversationId, body: {} }),
    }),
    writeTool(parts, {
      name: 'summarize',
      title: 'Store a summary',
      description: 'Stores a summary that you wrote of a conversation; it replaces the one before.',
      kind: 'conversations',
      action: 'summarize',
      effect: 'changes',
      properties: {
        conversationId: id('The conversation.'),
        ...propertiesOf(parts, 'ConversationSummarize'),
      },
      required: ['conversationId', ...requiredBy(parts, 'ConversationSummarize')],
      write: ({ conversationId, summary }) => ({
        id: conversationId,
        body: { summary },
      }),
    }),
  ]
}

/** Parameters of a list that are arguments of `find`, and those that make it another list. */
const ownArguments = ['q', 'limit', 'offset']
const notFilters = [...ownArguments, 'after', 'updatedAfter', 'cursor', 'wait']

const initialLimit = 10

function find(parts: ToolParts): Tool {
  // Messages are read with their conversation.
  const kinds = parts.kinds.map(({ plural }) => plural).filter((plural) => plural !== 'messages')
  return {
    name: 'find',
    title: 'Find',
    description: `Finds objects of a kind (${kinds.join(', ')}), newest first: by words, and by fields such as status, email, customerId or tag.`,
    scopes: kinds.map((plural) => `${plural}:read`),
    anyScope: true,
    effect: 'reads',
    input: objectOf(
      {
        kind: { type: 'string', enum: kinds, description: 'What to find.' },
        q: words('Words, or beginnings of words, that it has.'),
        where: {
          type: 'object',
          additionalProperties: { type: ['string', 'number', 'boolean'] },
          description:
            'Filters of the list: for example {"status": "open", "customerId": "…"}, {"email": "…"}, {"tag": "vip"}; or alone {"ids": "…,…"}. An unknown one is refused with a list of those there are.',
        },
        limit: whole('Objects at most.', 1, 100, initialLimit),
        offset: whole('Objects to pass over.', 0, 100_000, 0),
      },
      ['kind'],
    ),
    output: objectOf(
      {
        found: { type: 'array', items: { type: 'object' }, description: 'The objects, newest first.' },
        total: { type: 'integer', description: 'How many match.' },
        hasMore: { type: 'boolean', description: 'Whether more follow: ask again with a larger offset.' },
      },
      ['found', 'total', 'hasMore'],
    ),
    async run({ kind, where = {}, ...paging }, api) {
      const misplaced = notFilters.find((name) => Object.hasOwn(where, name))
      if (misplaced !== undefined)
        throw refusal(
          ownArguments.includes(misplaced)
            ? `where takes filters alone: give ${misplaced} next to where.`
            : `where takes filters alone, without ${misplaced}. changes_since follows what changes.`,
        )
      // Objects that are named by their ids are on one page.
      const most = Object.hasOwn(where, 'ids') ? {} : { limit: initialLimit }
      const page = await api.get(`/${kind}`, { ...where, ...most, ...paging })
      const { data, pagination } = page as { data: readonly Json[]; pagination: Json }
      return { found: data, total: pagination.total, hasMore: pagination.hasMore }
    },
  }
}

/** About what models count for English text. */
const charactersPerToken = 4

interface Message {
  readonly id: string
  readonly body: string | null
}

function readConversation(parts: ToolParts): Tool {
  return {
    name: 'read_conversation',
    title: 'Read a conversation',
    description:
      'Shows a conversation with its messages, newest first, as many as fit maxTokens. nextCursor continues with older ones.',
    scopes: ['conversations:read', 'messages:read'],
    effect: 'reads',
    input: objectOf(
      {
        conversationId: id('The conversation.'),
        maxTokens: whole('Text of the messages at most, in tokens.', 100, 20_000, 4_000),
        cursor: words('The nextCursor of the previous call.'),
      },
      ['conversationId'],
    ),
    output: objectOf(
      {
        conversation: shown(parts, 'Conversation', 'The conversation.'),
        messages: {
          type: 'array',
          items: shown(
            parts,
            'Message',
            'A message. bodyIsCut: its text is longer than maxTokens allow; readOn says how to read it all.',
          ),
          description: 'Newest first.',
        },
        nextCursor: {
          type: ['string', 'null'],
          description: 'Continues with older messages; null: none left.',
        },
      },
      ['conversation', 'messages', 'nextCursor'],
    ),
    async run({ conversationId, maxTokens = 4_000, cursor }, api) {
      const conversation = await api.get(`/conversations/${conversationId}`)
      const read = await messagesOf(api, conversationId, maxTokens * charactersPerToken, cursor)
      return { conversation, ...read }
    },
  }
}

/** `cursor`: id of the last message shown, so that messages that arrive meanwhile move nothing. */
async function messagesOf(
  api: Api,
  conversationId: string,
  characters: number,
  cursor: string | undefined,
): Promise<{ messages: readonly Json[]; nextCursor: string | null }> {
  const messages: Json[] = []
  let left = characters
  for (let after = cursor; ; ) {
    const page = await api.get('/messages', { conversationId, after, limit: 50 })
    const { data, pagination } = page as unknown as {
      data: readonly Message[]
      pagination: { hasMore: boolean }
    }
    for (const message of data) {
      const length = message.body?.length ?? 0
      // The first is shown in any case, cut if it must be.
      if (length > left && messages.length > 0) return { messages, nextCursor: after ?? null }
      messages.push(cutTo(message, left))
      left -= Math.min(length, left)
      after = message.id
    }
    if (!pagination.hasMore) return { messages, nextCursor: null }
  }
}

function cutTo(message: Message, characters: number): Json {
  const { body } = message
  if (body === null || body.length <= characters) return { ...message }
  const needed = Math.ceil(body.length / charactersPerToken)
  const readOn = `To read all of it, ask with this page's cursor and maxTokens ${needed}.`
  return { ...message, body: clipped(body, characters), bodyIsCut: true, readOn }
}
