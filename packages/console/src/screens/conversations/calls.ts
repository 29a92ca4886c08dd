import { type Patch, tagOf } from '../../api/change.ts'
import { answerOf, api } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Conversation } from '../desk/objects.ts'
import type { Move } from './moves.ts'

export function readConversation(id: string, signal?: AbortSignal): Promise<Conversation> {
  return answerOf(api().conversations.get(id, { signal }))
}

export async function writeConversation(id: string, body: Patch, ifMatch: string): Promise<Conversation> {
  return answerOf(api().conversations.update(id, body, { ifMatch }))
}

export async function move(id: string, to: Move, ifMatch?: string): Promise<Conversation> {
  return answerOf(api().conversations[to](id, { ifMatch }))
}

export async function summarize(id: string, summary: string): Promise<Conversation> {
  return answerOf(api().conversations.summarize(id, { summary }))
}

/** Messages that a look for new ones reads. */
const lookedAt = 20

/**
 * Resolves a conversation, unless a message of the customer came after `seen`: then the result is `unread`, and nothing
 * has changed. `seen` is null for keys that may not read messages.
 */
export async function resolveRead(
  id: string,
  seen: ReadonlySet<string> | null,
): Promise<'resolved' | 'unread'> {
  for (let tried = 1; ; tried++) {
    // In this order: a later message changes the version, so the last call gets a 412.
    const conversation = await readConversation(id)
    if (seen !== null) {
      const query = { conversationId: id, limit: lookedAt }
      const { data } = await answerOf(api().messages.list(query).page())
      if (data.some((message) => message.direction === 'inbound' && !seen.has(message.id))) return 'unread'
    }
    if (conversation.status === 'resolved') return 'resolved'
    try {
      await move(id, 'resolve', tagOf(conversation))
      return 'resolved'
    } catch (error) {
      if (!(error instanceof ApiProblem && error.status === 412) || tried === 3) throw error
    }
  }
}
