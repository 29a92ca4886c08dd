/** A service, an engine that it wakes by hand, and a TLS receiver that the engine's sender reaches over the network. */
import { testClock } from '../../../testbed/clock.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { deliveriesOf, makeWebhook, readWebhook } from '../../../testbed/hooks.ts'
import { createBench } from '../../../testbed/sending.ts'
import { testService } from '../../../testbed/service.ts'
import type { ConcurrencyTuning } from '../../src/delivery/tuning.ts'

export async function receiving(concurrency: Partial<ConcurrencyTuning> = {}) {
  const clock = testClock()
  const service = await testService({ clock })
  const bench = createBench()
  const receiver = await bench.receiver()
  const sender = bench.sender()
  let turns = 0
  const { engine } = testEngine(service, clock, {
    send: (request) => sender.send(request),
    concurrency,
    onHealth: () => turns++,
  })
  const { api } = service
  const url = `https://127.0.0.1:${receiver.port}/hook`
  return {
    clock,
    service,
    api,
    receiver,
    engine,
    url,
    /** How often the engine reported that an endpoint's state may be another. */
    turns: () => turns,
    /** An endpoint at the receiver, as its creation answered. */
    endpoint: (body: Readonly<Record<string, unknown>> = {}) => makeWebhook(api, { url, ...body }),
    change: (id: string, body: object) => api.patch(`/v1/webhooks/${id}`, body),
    read: (id: string) => readWebhook(api, id),
    log: (id: string, query = '') => deliveriesOf(api, id, query),
    /** The bodies that arrived, parsed. */
    get bodies() {
      return receiver.requests.map(({ body }) => JSON.parse(body.toString()))
    },
    async [Symbol.asyncDispose]() {
      await bench.close()
      await service[Symbol.asyncDispose]()
    },
  }
}
