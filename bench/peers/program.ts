/**
 * What both peers share: how they are started, the API that takes an event, and the sending of one delivery. The cast is
 * `bullmq.ts` and `graphile.ts`, each a program with two roles: `api` stores a delivery of each event for each
 * endpoint, `worker` sends them.
 */
import { createHmac, createSecretKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fastify from 'fastify'
import { Agent } from 'undici'

/** An endpoint's number and the bytes to send. */
export interface Delivery {
  readonly endpoint: number
  readonly event: string
  readonly body: string
}

/** The log of an attempt. */
export interface Attempt {
  readonly status: number
  readonly milliseconds: number
}

interface Arguments {
  readonly role: 'api' | 'worker'
  /** A socket's path, or a connection string. */
  readonly store: string
  readonly endpoints: number
  readonly origin: string
  readonly caFile: string
}

/** Deliveries under way in one worker: as many as the bare loop has. */
export const concurrency = 128

/** Attempts of a delivery, and milliseconds before each further one. */
export const attempts = 6
export const retryDelays: readonly number[] = [60_000, 300_000, 1_800_000, 7_200_000, 28_800_000]

/** In the benchmark's order. */
export function readArguments(): Arguments {
  const [role, store, endpoints, origin, caFile] = process.argv.slice(2)
  if ((role !== 'api' && role !== 'worker') || !store || !origin || !caFile || !(Number(endpoints) > 0)) {
    throw new Error('usage: api|worker STORE ENDPOINTS ORIGIN CA_FILE')
  }
  return { role, store, endpoints: Number(endpoints), origin, caFile }
}

/**
 * Serves `POST /events` until SIGTERM: 202 once `enqueue` has stored a delivery for each endpoint. Then calls `close`.
 */
export async function serveEvents(
  endpoints: number,
  enqueue: (deliveries: readonly Delivery[]) => Promise<unknown>,
  close: () => Promise<unknown>,
): Promise<void> {
  const server = fastify()
  server.post('/events', async (request, reply) => {
    const event = crypto.randomUUID()
    const body = JSON.stringify({ id: event, type: 'customer.created', data: request.body })
    await enqueue(Array.from({ length: endpoints }, (_, endpoint) => ({ endpoint, event, body })))
    return reply.code(202).send({ id: event })
  })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  untilTerminated(async () => {
    await server.close()
    await close()
  })
  process.stdout.write(`listening on ${url}\n`)
}

/** Calls `close` at SIGTERM, after which nothing holds the process. */
export function untilTerminated(close: () => Promise<unknown>): void {
  process.once('SIGTERM', () => void close())
}

/** Throws unless a 2xx comes within 10 s, for the queue to retry. */
export function createSender({ endpoints, origin, caFile }: Arguments) {
  const targets = Array.from({ length: endpoints }, (_, n) => ({
    path: `/hook/${n}`,
    key: createSecretKey(Buffer.alloc(32, n)),
  }))
  const agent = new Agent({
    connections: concurrency,
    connect: { ca: readFileSync(caFile), timeout: 10_000 },
    headersTimeout: 10_000,
    bodyTimeout: 10_000,
  })
  return {
    async send({ endpoint, event, body }: Delivery): Promise<Attempt> {
      const target = targets[endpoint]
      if (target === undefined) throw new Error(`there is no endpoint ${endpoint}`)
      const began = performance.now()
      const timestamp = Math.floor(Date.now() / 1000)
      const signature = createHmac('sha256', target.key).update(`${timestamp}.`).update(body).digest('hex')
      const answer = await agent.request({
        origin,
        path: target.path,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-service-event-id': event,
          'x-service-signature': `t=${timestamp},v1=${signature}`,
        },
        body,
      })
      await answer.body.dump()
      if (answer.statusCode < 200 || answer.statusCode > 299) throw new Error(`answered ${answer.statusCode}`)
      return { status: answer.statusCode, milliseconds: Math.round(performance.now() - began) }
    },
    close: () => agent.close(),
  }
}
