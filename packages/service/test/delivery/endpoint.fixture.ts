/** An endpoint in an organization of its own, and an engine whose requests are answered by script. */
import type { TestClock } from '../../../testbed/clock.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { deliveriesOf, makeWebhook, readWebhook } from '../../../testbed/hooks.ts'
import type { TestService } from '../../../testbed/service.ts'

export async function scriptedEndpoint(service: TestService, clock: TestClock) {
  const api = await service.newOrganization()
  const made = await makeWebhook(api)
  const path = `/v1/webhooks/${made.id}`
  const scripted = testEngine(service, clock)
  return {
    ...scripted,
    api,
    path,
    /** What was sent to this organization's endpoints: the engine serves those of other tests too. */
    mine: () => scripted.sent.filter(({ body }) => JSON.parse(body).organizationId === api.organizationId),
    id: made.id as string,
    read: () => readWebhook(api, made.id),
    log: () => deliveriesOf(api, made.id),
    ping: () => api.post(`${path}/ping`, undefined),
  }
}
