/** Bodies of messages have the limits of other bodies; large ones are handled off the event loop. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { handleOffloaded } from '../../service/src/http/offload.ts'
import { makeConversation } from '../../testbed/desk.ts'
import { call, mcpClient } from '../../testbed/mcp-client.ts'
import { type TestService, testService } from '../../testbed/service.ts'

const offloaded: string[] = []
let inside: TestService
let service: TestService
beforeAll(async () => {
  inside = await testService({ role: 'offload' })
  service = await testService({
    mcp: true,
    database: inside.database,
    async offload(request) {
      offloaded.push(`${request.method} ${request.url}`)
      return handleOffloaded(inside.app.server, request)
    },
  })
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await inside[Symbol.asyncDispose]()
})

function send(body: string) {
  return fetch(new URL('/mcp', service.url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${service.api.token}`,
    },
    body,
  })
}

const ping = (padding: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { padding } })

test('the write of a large message is offloaded, as any large body is; that of a small one is not', async () => {
  const { api } = service
  await using client = await mcpClient(service.url, api.token)
  const { id: conversationId } = await makeConversation(api)
  offloaded.length = 0
  await call(client, 'reply', { conversationId, body: 'x'.repeat(30_000) })
  expect(offloaded).toEqual([])
  await call(client, 'reply', { conversationId, body: 'x'.repeat(60_000) })
  expect(offloaded).toEqual(['POST /v1/messages?dryRun=false'])
})

test.each([
  ['of a mebibyte is read', ping('x'.repeat(2 ** 20 - 100)), 200],
  ['of more is refused', ping('x'.repeat(2 ** 20)), 413],
  ['of more values than an object of the desk may have is refused', ping(Array(1_001).fill(0)), 400],
  ['with a name twice is refused', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}', 400],
  ['that nests too deeply is refused', ping(JSON.parse('['.repeat(65) + ']'.repeat(65))), 400],
])('a message %s', async (_, body, status) => {
  expect((await send(body)).status).toBe(status)
})
