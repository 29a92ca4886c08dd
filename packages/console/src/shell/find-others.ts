/** Search results of no screen: endpoints, and messages, which lead to their conversation. */
import { clipped } from '@deskwire/sdk/clipped'
import { answerOf, api } from '../api/client.ts'
import type { Command, Go } from '../router/screen.ts'
import { findBy } from '../screens/desk/objects.ts'

/** By id, URL or description. */
export async function findEndpoints(words: string, go: Go, signal: AbortSignal): Promise<readonly Command[]> {
  const query = { limit: 100 }
  const { data } = await answerOf(api().webhooks.list(query, { signal }).page())
  const sought = words.toLowerCase()
  return data
    .filter(({ id, url, description }) =>
      [id, url, description ?? ''].some((text) => text.toLowerCase().includes(sought)),
    )
    .slice(0, 4)
    .map(({ id, url, description }) => ({
      id,
      title: description ?? url,
      detail: 'Endpoint',
      run: () => go(`/endpoints/${id}`),
    }))
}

/** By id or text. */
export async function findMessages(words: string, go: Go, signal: AbortSignal): Promise<readonly Command[]> {
  const messages = await findBy(api().messages, words, signal)
  return messages.map(({ id, body, conversationId }) => ({
    id,
    title: body === null ? 'Attachment' : clipped(body, 80),
    detail: 'Message',
    run: () => go(`/conversations/${conversationId}?message=${id}`),
  }))
}
