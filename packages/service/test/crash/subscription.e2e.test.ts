/**
 * kill -9 of the whole service while an agent's receiver is down: its subscription goes on, and it misses nothing. Nothing of MCP is
 * loaded before the agent calls.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { agentOf, agree, secret, verified } from '../../../mcp/test/subscriber.fixture.ts'
import { makeTicket } from '../../../testbed/desk.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { answer } from '../../../testbed/receiver.ts'
import { scratchDirectory } from '../../../testbed/scratch.ts'
import { authority, createBench } from '../../../testbed/sending.ts'
import { createApi, testService } from '../../../testbed/service.ts'
import { createServices, socketUrl } from '../../../testbed/services.ts'

const watching = fileURLToPath(new URL('../telemetry/watch-loading.fixture.mjs', import.meta.url))
const loaded = 'asked for @modelcontextprotocol/'

test('the service killed while a receiver is down loses no event of a subscription', async () => {
  await using service = await testService()
  await using services = createServices()
  const bench = createBench()
  const receiver = await bench.receiver()
  receiver.will(agree)
  await using scratch = await scratchDirectory()
  const ca = join(scratch.path, 'ca.pem')
  await writeFile(ca, authority.ca)
  const start = () =>
    services.serve(['--role', 'all', '--database-url', socketUrl(service.database.connection)], {
      NODE_OPTIONS: `--import=${watching}`,
      DESKWIRE_MCP: 'on',
      DESKWIRE_TARGET_CA: ca,
      DESKWIRE_TRUSTED_TARGETS: '127.0.0.0/8',
      DESKWIRE_RETRY_DELAYS: '1s,1s,1s,1s,1s,1s,1s,1s,1s',
      DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    })
  const first = await start()
  const { organizationId, token } = service.api
  const api = createApi(first.url, organizationId, token)
  expect((await api.get('/v1/tickets')).status).toBe(200)
  expect(first.output.all).not.toContain(loaded)
  const agent = await agentOf(first.url, service.api)
  const url = `https://127.0.0.1:${receiver.port}/hook`
  const asked = { name: 'ticket.created', delivery: { mode: 'webhook', url, secret } }
  const { id } = await agent.ask('events/subscribe', asked)
  expect(first.output.all).toContain(loaded)
  expect(first.output.all).not.toContain('asked for jose')
  receiver.will(answer(503))
  const made = new Set<string>()
  for (let n = 0; n < 20; n++) made.add((await makeTicket(api)).id)
  await eventually('some were refused', async () => receiver.requests.length > 5)
  await first.end('SIGKILL')
  await agent.client.close().catch(() => {})

  receiver.will(agree)
  const before = receiver.requests.length
  const second = await start()
  const arrived = () => receiver.requests.slice(before).map((request) => verified(request).data?.id)
  await eventually('all have arrived', async () => new Set(arrived()).size === made.size)
  expect(new Set(arrived())).toEqual(made)
  // Nobody is asked again: that the receiver agreed has been kept.
  await using again = await agentOf(second.url, service.api)
  expect(await again.ask('events/subscribe', asked)).toMatchObject({ id, truncated: false })
  expect(
    receiver.requests.slice(before).filter((request) => verified(request).type === 'verification'),
  ).toEqual([])
  expect((await second.end('SIGTERM')).code).toBe(0)
  await bench.close()
})
