/** A service of its own with one endpoint, on a clock that the test moves. */
import { testClock } from '../../../testbed/clock.ts'
import { deliveriesOf, makeWebhook, readWebhook } from '../../../testbed/hooks.ts'
import { testService } from '../../../testbed/service.ts'

/** The endpoint is created with `body`; what else a file asks of it is its own. */
export async function deskWithEndpoint(
  body: Readonly<Record<string, unknown>> = {},
  options: Parameters<typeof testService>[0] = {},
) {
  const clock = testClock()
  const service = await testService({ clock, ...options })
  const { api } = service
  const webhook = await makeWebhook(api, body)
  const id: string = webhook.id
  return {
    clock,
    service,
    api,
    /** As created, with its secret. */
    webhook,
    id,
    path: `/v1/webhooks/${id}`,
    pool: service.database.pool,
    endpoint: { organizationId: api.organizationId, webhookId: id },
    read: () => readWebhook(api, id),
    log: (query = '') => deliveriesOf(api, id, query),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}
