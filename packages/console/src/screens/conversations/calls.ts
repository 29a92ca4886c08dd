import { tagOf } from '../../api/change.ts'
import { answerOf, api } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import { type Conversation, type Message, readOne } from '../desk/objects.ts'
import type { Move } from './moves.ts'

export async function move(id: string, to: Move, ifMatch?: string): Promise<Conversation> {
  return answerOf(api().conversations[to](id, { ifMatch }))
}

/** Messages that a look for new ones reads. */
const lookedAt = 20

/**
 * Resolves a conversation, unless the customer wrote something that is not in `seen`: then it returns that, newest
 * first, and nothing has changed. `seen` is null for keys that may not read messages.
 */
export async function resolveRead(id: string, seen: ReadonlySet<string> | null): Promise<readonly Message[]> {
  for (let tried = 1; ; tried++) {
    // In this order: a later message changes the version, so the last call gets a 412.
    const conversation = await readOne('conversations', id)
    if (seen !== null) {
      const query = { conversationId: id, limit: lookedAt }
      const { data } = await answerOf(api().messages.list(query).page())
      const unseen = data.filter((message) => message.direction === 'inbound' && !seen.has(message.id))
      if (unseen.length > 0) return unseen
    }
    if (conversation.status === 'resolved') return []
    try {
      await move(id, 'resolve', tagOf(conversation))
      return []
    } catch (error) {
      if (!(error instanceof ApiProblem && error.status === 412) || tried === 3) throw error
    }
  }
}
