import { testDelivery } from '@deskwire/sdk/testing'
import { expect, test } from 'vitest'
import { verify } from '../src/index.ts'

test('a test delivery is one that a receiver accepts', async () => {
  const delivery = await testDelivery({ type: 'ticket.created', data: { object: 'ticket' } }, 'whsec_x')
  const request = new Request('https://receiver.example/hook', delivery)
  const event = await verify(await request.arrayBuffer(), request.headers, 'whsec_x')
  expect(request.method).toBe('POST')
  expect(request.headers.get('content-type')).toBe('application/json')
  expect(request.headers.get('x-service-event-id')).toBe(event.id)
  expect(request.headers.get('x-service-event-type')).toBe('ticket.created')
  expect(event).toMatchObject({ type: 'ticket.created', apiVersion: 'v1', data: { object: 'ticket' } })
  expect(event.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('everything of it can be chosen, to repeat a delivery or to have it refused', async () => {
  const event = {
    id: '019c1234-0000-7000-8000-000000000001',
    type: 'ping',
    createdAt: '2026-01-31T09:30:00.000Z',
    organizationId: '019c1234-0000-7000-8000-000000000000',
  }
  const delivery = await testDelivery(event, ['whsec_new', 'whsec_old'], { timestamp: 1000 })
  expect(await testDelivery(event, ['whsec_new', 'whsec_old'], { timestamp: 1000 })).toEqual(delivery)
  expect(JSON.parse(delivery.body)).toEqual({ ...event, apiVersion: 'v1', data: {} })
  const { body, headers } = delivery
  expect(await verify(body, headers, 'whsec_old', { now: 1000 })).toMatchObject(event)
  await expect(verify(body, headers, 'whsec_old')).rejects.toMatchObject({ code: 'timestamp_expired' })
})
