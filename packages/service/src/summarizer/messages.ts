/** The messages of a conversation, as many as a summary needs. */
import type { Pool } from 'pg'
import { parseRepresentation, type StoredBody } from '../resource/representation.ts'
import type { Message } from '../resources/message/fields.ts'
import { message } from '../resources/message/index.ts'

/** Messages that are read: the first ones say what it is about, the last ones how it ended. */
const firstRead = 20
const lastRead = 60

export interface ReadMessages {
  readonly messages: readonly Message[]
  /** Whether there may be more between the first and the last. */
  readonly abridged: boolean
}

/** Messages never change, so that two statements read what one would. */
export async function readMessages(
  pool: Pool,
  organizationId: string,
  conversationId: string,
): Promise<ReadMessages> {
  const read = async (order: 'asc' | 'desc', limit: number) => {
    const { rows } = await pool.query<StoredBody & { id: string }>({
      name: `read_messages_${order}`,
      text: `select m.id, m.body, m.body_version as version from messages m
               where m.organization_id = $1 and m.conversation_id = $2 and m.removed_at is null
               order by m.created_at ${order}, m.id ${order} limit ${limit}`,
      values: [organizationId, conversationId],
    })
    return rows
  }
  const [first, last] = await Promise.all([read('asc', firstRead), read('desc', lastRead)])
  const bodies = new Map([...first, ...last.toReversed()].map((row) => [row.id, row]))
  const complete = first.length < firstRead || bodies.size < first.length + last.length
  return {
    messages: [...bodies.values()].map(
      (row) => parseRepresentation(message, row).state as unknown as Message,
    ),
    abridged: !complete,
  }
}
