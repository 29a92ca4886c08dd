/** Objects of every kind that a client could send, and what they refer to. */

import { makeConversation, makeCustomer, makeTeammate } from '../../../testbed/desk.ts'
import type { Api } from '../../../testbed/service.ts'
import type { Kind } from '../../src/kinds/model/kind.ts'

/** What new objects refer to, and the word that stands in every text of theirs. */
export interface Desk {
  readonly customerId: string
  readonly conversationId: string
  readonly teammateId: string
  readonly word: string
}

export async function unchangedDesk(api: Api, word: string): Promise<Desk> {
  const customerId = (await makeCustomer(api, { name: word })).id
  const conversationId = (await makeConversation(api, { customerId, subject: word })).id
  return { customerId, conversationId, teammateId: (await makeTeammate(api, { name: word })).id, word }
}

type Body = Readonly<Record<string, unknown>>

const bodies: Readonly<Record<string, (desk: Desk, unique: string) => Body>> = {
  teammates: ({ word }, unique) => ({ name: word, email: `${unique.replaceAll(' ', '.')}@example.com` }),
  customers: ({ word }, unique) => ({ name: word, email: `${unique.replaceAll(' ', '.')}@example.com` }),
  conversations: ({ customerId, word }) => ({ customerId, channel: 'chat', subject: word }),
  messages: ({ conversationId, word }) => ({
    conversationId,
    direction: 'outbound',
    author: { type: 'ai' },
    body: word,
  }),
  notes: ({ conversationId, word }) => ({ conversationId, author: { type: 'ai' }, body: word }),
  tickets: ({ customerId, word }) => ({ customerId, subject: word }),
  bookings: ({ customerId, word }) => ({
    customerId,
    title: word,
    timezone: 'UTC',
    startAt: '2027-01-01T00:00:00.000Z',
    endAt: '2027-01-01T01:00:00.000Z',
  }),
}

/** A body that creates an object of the kind. `unique` makes it one of its own, where the kind has unique values. */
export function newObject(kind: Kind, desk: Desk, unique: string): Body {
  const body = bodies[kind.plural]
  if (body === undefined) throw new Error(`what creates one of ${kind.plural}? Say it here`)
  const own = kind.fields.externalId === undefined ? {} : { externalId: unique }
  return { ...body(desk, unique), ...own }
}
