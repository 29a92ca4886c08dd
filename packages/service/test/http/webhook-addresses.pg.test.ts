/** The addresses that deliveries come from, for a receiver without a key. */
import { expect, test } from 'vitest'
import { testService } from '../../../testbed/service.ts'

const path = '/.well-known/webhook-addresses.json'

test('shows the addresses that the operator has set', async () => {
  await using service = await testService({ webhookAddresses: ['203.0.113.7/32', '2001:db8::/64'] })
  const response = await fetch(`${service.url}${path}`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toContain('application/json')
  expect(await response.json()).toEqual({ addresses: ['203.0.113.7/32', '2001:db8::/64'] })
})

test('says that none are set', async () => {
  await using service = await testService()
  const response = await fetch(`${service.url}${path}`)
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([404, 'not_found'])
})
