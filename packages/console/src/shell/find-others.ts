/** Search results of no screen: endpoints, and messages, which lead to their conversation. */
import { answerOf, api } from '../api/client.ts'
import type { Command, Go } from '../router/screen.ts'

const isId = (words: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(words)

/** By id, URL or description. */
export async function findEndpoints(words: string, go: Go, signal: AbortSignal): Promise<readonly Command[]> {
  const query = { limit: 100 }
  const { data } = await answerOf(api.GET('/v1/webhooks', { params: { query }, signal }))
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
  const query = isId(words) ? { ids: words } : { q: words, limit: 4 }
  const { data } = await answerOf(api.GET('/v1/messages', { params: { query }, signal }))
  return data.flatMap((message) =>
    'conversationId' in message
      ? [
          {
            id: message.id,
            title: message.body?.slice(0, 80) ?? 'A message without words',
            detail: 'Message',
            run: () => go(`/conversations/${message.conversationId}`),
          },
        ]
      : [],
  )
}
