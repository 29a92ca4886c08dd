/**
 * What is said of a URL that leads to an address which is not public: to its client the same whatever the address is, and
 * to the operator which block it lies in. Over one address of every block there is.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { type DnsServer, startDnsServer } from '../../../testbed/dns-server.ts'
import { attemptsOf, deliveriesOf, makeWebhook, minute, readWebhook } from '../../../testbed/hooks.ts'
import { runDue } from '../../../testbed/run-due.ts'
import { type Answer, type TestService, testService } from '../../../testbed/service.ts'
import { specialPurposeBlocks } from '../../src/delivery/send/address.ts'
import { kinds } from '../../src/desk/index.ts'
import { noNetworks, parseNetworks } from '../../src/kernel/networks.ts'
import { createWorker } from '../../src/roles/worker.ts'

const clock = testClock()
let dns: DnsServer
let service: TestService
const settings = () => ({
  ...deliverySettings,
  trustedTargets: parseNetworks('127.0.0.2/32') ?? noNetworks,
  dnsServers: [dns.address],
})

beforeAll(async () => {
  dns = await startDnsServer()
  service = await testService({ clock, settings: settings() })
  dns.set('hook.test', { addresses: ['127.0.0.2'], ttl: 0 })
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await dns.close()
})

/** The first address of each block, with the closest block's name, and one that is in none and yet not global unicast. */
const firsts = new Map<string, string>([['4000::1', 'outside']])
for (const [cidr, name] of specialPurposeBlocks) {
  const ip = cidr.split('/')[0] as string
  if (!firsts.has(ip)) firsts.set(ip, name)
}
const inside = [...firsts].map(([ip, block]) => ({ ip, block }))
const host = (ip: string) => (ip.includes(':') ? `[${ip}]` : ip)
const events = ['customer.created']

const problemOf = ({ json: { requestId: _, ...rest } }: Answer) => rest
const sentence = 'The URL leads to an address that is not public'
const refusal = {
  type: '/docs/errors/url_not_public',
  title: 'The URL does not lead to a public address',
  status: 422,
  code: 'url_not_public',
  detail: `${sentence}. Give a URL whose every address is public.`,
}

describe.each(inside)('$ip ($block)', ({ ip, block }) => {
  /** The line of the log about a request. */
  const loggedOf = (answer: Answer) =>
    service.logged.filter((line) => line.requestId === answer.json.requestId && 'block' in line)

  test('as the host, and as what the host leads to, is refused in one sentence', async () => {
    dns.set('inner.test', { addresses: [ip], ttl: 0 })
    const { id } = await makeWebhook(service.api, { url: 'https://hook.test/' })
    for (const url of [`https://${host(ip)}/hook-path`, 'https://inner.test/hook-path']) {
      for (const answer of [
        await service.api.post('/v1/webhooks', { url, events }),
        await service.api.patch(`/v1/webhooks/${id}`, { url }),
      ]) {
        expect(problemOf(answer)).toEqual(refusal)
        const [line, ...more] = loggedOf(answer)
        expect(more).toEqual([])
        expect(line).toMatchObject({ organizationId: service.api.organizationId, code: 'url_not_public' })
        expect(line?.block).toContain(block)
        expect(JSON.stringify(line)).not.toMatch(/hook-path|inner\.test/)
      }
    }
    await service.api.delete(`/v1/webhooks/${id}`)
  })
})

test.each([
  ['127.0.0.1', 'loopback'],
  ['10.0.0.7', 'private use'],
  ['169.254.169.254', 'link local'],
])(
  'a delivery that is led to %s fails in the same sentence, and the block is in the log',
  async (ip, block) => {
    const worker = createWorker({
      pool: service.database.pool,
      clock,
      log: service.app.server.log,
      kinds,
      settings: settings(),
    })
    try {
      const api = await service.newOrganization()
      dns.set('hook.test', { addresses: ['127.0.0.2'], ttl: 0 })
      const { id } = await makeWebhook(api, { url: 'https://hook.test:9/hook-path' })
      dns.set('hook.test', { addresses: [ip], ttl: 0 })
      clock.advance(minute)
      await makeCustomer(api)
      await runDue(worker.engine)
      const [delivery] = await deliveriesOf(api, id)
      const error = { code: 'address_not_public', message: sentence }
      expect(delivery).toMatchObject({ status: 'failed', lastError: error })
      expect(await attemptsOf(api, delivery)).toMatchObject([{ number: 1, error, responseBody: null }])
      expect(await readWebhook(api, id)).toMatchObject({
        status: 'disabled',
        disabledReason: 'address_not_public',
      })
      const lines = service.logged.filter((line) => line.webhookId === id && 'block' in line)
      expect(lines).toMatchObject([
        { organizationId: api.organizationId, block: expect.stringContaining(block) },
      ])
      expect(JSON.stringify(lines)).not.toMatch(/hook-path|hook\.test/)
    } finally {
      await worker.close()
    }
  },
)
