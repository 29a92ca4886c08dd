/** What a receiver gets, byte for byte, from the whole of it: API, worker, TLS (specification, section 6.2). */
import { verifyWebhook } from '@deskwire/sdk'
import pino from 'pino'
import { expect, test } from 'vitest'
import { createWorker } from '../../src/deliveries.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { kinds } from '../../src/resources/index.ts'
import { createAuthority } from '../harness/certificates.ts'
import { deliverySettings } from '../harness/delivery-settings.ts'
import { answer, startReceiver } from '../harness/receiver.ts'
import { testService } from '../harness/service.ts'

test('a delivery is a signed POST of the envelope, with the bytes of the GET', async () => {
  const authority = createAuthority()
  const receiver = await startReceiver(authority.issue(['127.0.0.1']))
  receiver.will(answer(204))
  const settings = { ...deliverySettings, targetCa: authority.ca }
  await using service = await testService({ settings })
  const { pool } = service.database
  const log = pino({ level: 'silent' })
  const worker = createWorker({ pool, clock: systemClock, log, kinds, settings })
  try {
    const url = `https://127.0.0.1:${receiver.port}/hook?from=desk`
    const webhook = await service.api.post('/v1/webhooks', { url, events: ['customer.created'] })
    const { json: customer } = await service.api.post('/v1/customers', { name: 'Ada' })
    await worker.engine.runDue()

    expect(receiver.requests.length).toBe(1)
    const [request] = receiver.requests
    const { headers, body } = request as NonNullable<typeof request>
    const verdict = await verifyWebhook(body, headers['x-service-signature'], webhook.json.secret)
    if (!verdict.ok) return expect.unreachable(verdict.detail)
    expect(request).toMatchObject({ method: 'POST', path: '/hook?from=desk' })
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Deskwire\/\d+\.\d+\.\d+/),
      'x-service-event-id': verdict.event.id,
      'x-service-event-type': 'customer.created',
    })
    const shown = await service.api.get(`/v1/customers/${customer.id}`)
    expect(body.toString()).toContain(`"data":${shown.text}}`)
    const deliveries = await service.api.get(`/v1/webhooks/${webhook.json.id}/deliveries`)
    expect(deliveries.json.data[0]).toMatchObject({ status: 'succeeded', eventId: verdict.event.id })
  } finally {
    await worker.close()
    await receiver.close()
  }
})
