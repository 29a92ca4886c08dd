/** Search results of no screen: endpoints, and messages, which lead to their conversation. */
import { clipped } from '@deskwire/sdk/clipped'
import { answerOf, api } from '../api/client.ts'
import type { Command, Go } from '../router/screen.ts'
import { findRows, sayDate } from '../screens/desk/objects.ts'

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
      about: url,
      isNamed: id === sought,
      run: () => go(`/endpoints/${id}`),
    }))
}

/** By id or text. */
export function findMessages(words: string, go: Go, signal: AbortSignal): Promise<readonly Command[]> {
  return findRows({
    kind: api().messages,
    words,
    go,
    signal,
    show: ({ id, body, conversationId, customerId, sentAt }) => ({
      title: body === null ? 'Attachment' : clipped(body, 80),
      detail: 'Message',
      about: sayDate(sentAt),
      customerId,
      address: `/conversations/${conversationId}?message=${id}`,
    }),
  })
}
