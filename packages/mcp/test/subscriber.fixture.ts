/** An agent's receiver, which verifies what arrives as Standard Webhooks says, and a service that it subscribes at. */

import { Webhook } from 'standardwebhooks'
import { expect, vi } from 'vitest'
import { z } from 'zod'
import { testClock } from '../../testbed/clock.ts'
import { deliveryJobsOn } from '../../testbed/delivery-jobs.ts'
import { testEngine } from '../../testbed/engine.ts'
import { mcpClient } from '../../testbed/mcp-client.ts'
import { answer, type Behaviour, type ReceivedRequest } from '../../testbed/receiver.ts'
import { authority, createBench } from '../../testbed/sending.ts'
import { type Api, testService } from '../../testbed/service.ts'

export const newSecret = (byte = 1) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
export const secret = newSecret()

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever a message has; a wrong guess fails them
type Message = any

/** Throws unless the secret signed the request. */
export function verified({ headers, body }: ReceivedRequest, by = secret): Message {
  vi.setSystemTime(Number(headers['webhook-timestamp']) * 1_000)
  try {
    return new Webhook(by).verify(body.toString(), { ...headers })
  } finally {
    vi.useRealTimers()
  }
}

/** Agrees to deliveries. */
export const agree: Behaviour = (socket, request, below) => {
  const { type, challenge } = JSON.parse(request.body.toString())
  const body = type === 'verification' ? JSON.stringify({ challenge }) : ''
  answer(200, body)(socket, request, below)
}

/** Asks as an agent with the key of `api`. */
export async function agentOf(url: string, api: Api) {
  const client = await mcpClient(url, api.token)
  const ask = async (method: string, params: object): Promise<Message> =>
    client.request({ method, params: params as Record<string, unknown> }, z.looseObject({}))
  return { client, ask, [Symbol.asyncDispose]: () => client.close() }
}

export async function subscribing(options: { readonly startAt?: number } = {}) {
  const clock = testClock(options.startAt)
  const service = await testService({ clock, mcp: true, settings: { targetCa: authority.ca } })
  const bench = createBench()
  const receiver = await bench.receiver()
  receiver.will(agree)
  const sender = bench.sender()
  const { engine } = testEngine(service, clock, { send: (request) => sender.send(request) })
  const deliveryJobs = deliveryJobsOn(service, clock)
  const { api } = service
  const agent = await agentOf(service.url, api)
  const url = `https://127.0.0.1:${receiver.port}/hook`
  const of = (params: Record<string, unknown> = {}) => ({
    name: 'ticket.created',
    ...params,
    delivery: { mode: 'webhook', url, secret, ...(params.delivery as object) },
  })
  let seen = 0
  return {
    clock,
    service,
    api,
    receiver,
    engine,
    url,
    agent,
    subscribe: (params: Record<string, unknown> = {}, as = agent) => as.ask('events/subscribe', of(params)),
    unsubscribe: (params: Record<string, unknown> = {}, as = agent) =>
      as.ask('events/unsubscribe', of(params)),
    poll: (params: object) => agent.ask('events/poll', { name: 'ticket.created', ...params }),
    refusal: async (params: Record<string, unknown>, as = agent) => {
      const error = await as.ask('events/subscribe', of(params)).catch((error: unknown) => error)
      const { code, message, data } = error as Message
      return { code, message, ...data }
    },
    endpoints: async () => (await api.get('/v1/webhooks')).json.data,
    /** All that workers have to do now. */
    async work() {
      await deliveryJobs.runDue()
      await engine.runDue()
    },
    /** What has arrived since the last call. */
    arrived() {
      const fresh = receiver.requests.slice(seen)
      seen = receiver.requests.length
      return fresh
    },
    async [Symbol.asyncDispose]() {
      await agent.client.close()
      await bench.close()
      await service[Symbol.asyncDispose]()
    },
  }
}

export type Subscribing = Awaited<ReturnType<typeof subscribing>>

/** The id of an event's subject, of each body that arrived. */
export const subjects = (requests: readonly ReceivedRequest[]) =>
  requests.map((request) => verified(request).data.id as string)

export const expired = expect.stringMatching(/^\d{4}-/)
