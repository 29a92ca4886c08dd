/** Creates and reads keys over HTTP. */
import type { Api, TestService } from './service.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever the record has; a wrong guess fails them
type Made = any

/** As created, with its token. */
export async function makeKey(
  api: Api,
  body: Readonly<Record<string, unknown>> = {},
  headers: Record<string, string> = {},
): Promise<Made> {
  const answer = await api.post(
    '/v1/api-keys',
    { name: 'Test', scopes: ['customers:read'], ...body },
    headers,
  )
  if (answer.status !== 201) throw new Error(`POST /v1/api-keys: ${answer.status} ${answer.text}`)
  return answer.json
}

export async function readKey(api: Api, id: string): Promise<Made> {
  const answer = await api.get(`/v1/api-keys/${id}`)
  if (answer.status !== 200) throw new Error(`GET /v1/api-keys/${id}: ${answer.status} ${answer.text}`)
  return answer.json
}

/** The organization's first key, which has all scopes. */
export async function firstKeyOf(api: Api): Promise<string> {
  const { data, pagination } = (await api.get('/v1/api-keys?limit=100')).json
  if (pagination.hasMore) throw new Error('more keys than a page')
  return data.at(-1).id
}

/** Calls with a token of the organization. */
export function asToken(service: TestService, api: Api, token: string): Api {
  return { ...service.withToken(token), organizationId: api.organizationId }
}
