import { type Patch, tagOf } from '../../api/change.ts'
import { answerOf, api, newIntent } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import { type Conversation, rowsOf, shown } from '../desk/objects.ts'
import type { Move } from './moves.ts'

export function readConversation(id: string, signal?: AbortSignal): Promise<Conversation> {
  return answerOf(api.GET('/v1/conversations/{id}', { params: { path: { id } }, signal }))
}

export async function writeConversation(id: string, body: Patch, ifMatch: string): Promise<Conversation> {
  const params = { path: { id }, header: { 'If-Match': ifMatch } }
  return shown(await answerOf(api.PATCH('/v1/conversations/{id}', { params, body })))
}

export async function move(id: string, to: Move, ifMatch?: string): Promise<Conversation> {
  const header = { 'Idempotency-Key': newIntent(), ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }) }
  // The type of one of them serves for all.
  const path = `/v1/conversations/{id}/${to}` as '/v1/conversations/{id}/resolve'
  return shown(await answerOf(api.POST(path, { params: { path: { id }, header } })))
}

export async function summarize(id: string, summary: string): Promise<Conversation> {
  const params = { path: { id }, header: { 'Idempotency-Key': newIntent() } }
  return shown(await answerOf(api.POST('/v1/conversations/{id}/summarize', { params, body: { summary } })))
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
      const { data } = rowsOf(await answerOf(api.GET('/v1/messages', { params: { query } })))
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
