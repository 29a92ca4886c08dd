/** Each framework, over HTTP on the loopback, as its users set it up: with its own JSON parsing on other routes. */
import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { startHttpServer } from '../../testbed/loopback.ts'
import {
  createReceiver,
  fastifyPlugin,
  fetchHandler,
  honoHandler,
  nodeHandler,
  type Receiver,
  type WebhookEvent,
} from '../src/index.ts'
import { testDelivery } from '../src/testing.ts'

const secret = 'whsec_of_the_tests'

/** Serves for as long as the test lasts; its address. */
const listening = async (listener: RequestListener) => {
  const server = await startHttpServer(listener)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server.url
}

/** What serves `Request`s as edge functions and Hono do, over Node's HTTP. */
const served =
  (handle: (request: Request) => Promise<Response> | Response): RequestListener =>
  async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const { method = 'GET' } = request
    const body = method === 'GET' ? null : Buffer.concat(chunks)
    const answer = await handle(
      new Request(new URL(request.url ?? '/', 'http://loopback'), { method, headers, body }),
    )
    response
      .writeHead(answer.status, Object.fromEntries(answer.headers))
      .end(Buffer.from(await answer.arrayBuffer()))
  }

const echo = (body: unknown) => ({ name: (body as { name: string }).name })

/** Each with the receiver at `/hook`, and another route that gets JSON parsed. */
const frameworks: Record<string, (receive: Receiver) => Promise<string>> = {
  async 'node:http'(receive) {
    const handler = nodeHandler(receive)
    return listening(async (request, response) => {
      if (request.url === '/hook') return handler(request, response)
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      response.end(JSON.stringify(echo(JSON.parse(Buffer.concat(chunks).toString()))))
    })
  },
  async 'Express, before its parser'(receive) {
    const app = express()
    app.post('/hook', nodeHandler(receive))
    app.use(express.json())
    app.post('/other', (request, response) => void response.json(echo(request.body)))
    return listening(app)
  },
  async 'Express, with express.raw()'(receive) {
    const app = express()
    app.post('/hook', express.raw({ type: 'application/json', limit: '1mb' }), nodeHandler(receive))
    app.use(express.json())
    app.post('/other', (request, response) => void response.json(echo(request.body)))
    return listening(app)
  },
  async 'Express, with a parser that keeps the bytes'(receive) {
    const app = express()
    app.use(
      express.json({
        limit: '1mb',
        verify: (request, _, bytes) => void Object.assign(request, { rawBody: bytes }),
      }),
    )
    app.post('/hook', nodeHandler(receive))
    app.post('/other', (request, response) => void response.json(echo(request.body)))
    return listening(app)
  },
  async Fastify(receive) {
    const app = Fastify()
    app.register(fastifyPlugin(receive, '/hook'))
    app.post('/other', async (request) => echo(request.body))
    onTestFinished(() => app.close())
    return app.listen({ host: '127.0.0.1', port: 0 })
  },
  async Hono(receive) {
    const app = new Hono()
    app.post('/hook', honoHandler(receive))
    app.post('/other', async (context) => context.json(echo(await context.req.json())))
    return listening(served((request) => app.fetch(request)))
  },
  async 'Hono, behind a middleware that reads the body'(receive) {
    const app = new Hono()
    app.use(async (context, next) => {
      await context.req.json()
      await next()
    })
    app.post('/hook', honoHandler(receive))
    app.post('/other', async (context) => context.json(echo(await context.req.json())))
    return listening(served((request) => app.fetch(request)))
  },
  async 'a handler of Requests'(receive) {
    const handler = fetchHandler(receive)
    return listening(
      served(async (request) =>
        new URL(request.url).pathname === '/hook'
          ? handler(request)
          : Response.json(echo(await request.json())),
      ),
    )
  },
}

describe.each(Object.entries(frameworks))('%s', (_, start) => {
  const started = async () => {
    const events: WebhookEvent[] = []
    const handle = (event: WebhookEvent) => {
      if (event.type === 'ping') throw new Error('not today')
      events.push(event)
    }
    const origin = await start(
      createReceiver({ secrets: ['whsec_new', secret], onError: () => {} }).on('*', handle),
    )
    const post = async (delivery: RequestInit) => {
      const answer = await fetch(`${origin}/hook`, delivery)
      return [answer.status, await answer.text()]
    }
    return { origin, events, post }
  }

  test('takes what is signed over its very bytes, once, and leaves other routes as they are', async () => {
    const { origin, events, post } = await started()
    const delivery = await testDelivery(
      { type: 'ticket.created', data: { subject: 'Zoë ☕ 𝄞', big: '1.0e5' } },
      secret,
    )
    // Not as a JSON parser would write it again.
    expect([await post(delivery), await post(delivery)]).toEqual([
      [204, ''],
      [204, ''],
    ])
    expect(events).toEqual([JSON.parse(delivery.body)])
    const other = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"Ada"}' }
    expect(await (await fetch(`${origin}/other`, other)).json()).toEqual({ name: 'Ada' })
  })

  test('takes a large one, and one with white space that a parser would lose', async () => {
    const { events, post } = await started()
    const data = { subject: 'x'.repeat(500_000) }
    expect(await post(await testDelivery({ type: 'ticket.created', data }, secret))).toEqual([204, ''])
    const spaced = await testDelivery({ type: 'ticket.updated' }, secret)
    const { signWebhook } = await import('../src/index.ts')
    const body = ` ${spaced.body.replaceAll(',', ' ,\t')}\r\n`
    const headers = { ...spaced.headers, 'x-service-signature': await signWebhook(body, secret) }
    expect(await post({ ...spaced, headers, body })).toEqual([204, ''])
    expect(events).toHaveLength(2)
  })

  test('refuses with the reason what is altered or unsigned, and answers 500 when the work fails', async () => {
    const { events, post } = await started()
    const delivery = await testDelivery({ type: 'ticket.created', data: { subject: 'Zoë' } }, secret)
    expect(await post({ ...delivery, body: delivery.body.replace('Zoë', 'Zoe') })).toEqual([
      400,
      expect.stringContaining('No signature fits'),
    ])
    const { 'x-service-signature': _, ...unsigned } = delivery.headers
    expect(await post({ ...delivery, headers: unsigned })).toEqual([
      400,
      expect.stringContaining('No signature header'),
    ])
    expect((await post(await testDelivery({ type: 'ping' }, secret)))[0]).toBe(500)
    expect(events).toEqual([])
  })

  test('refuses what is too large without keeping it', async () => {
    const { post } = await started()
    const headers = { 'content-type': 'application/json' }
    expect((await post({ method: 'POST', headers, body: JSON.stringify('x'.repeat(1_048_577)) }))[0]).toBe(
      413,
    )
  })
})

test('a body that says no length is given up at 1 MiB', async () => {
  const receive = createReceiver({ secrets: secret })
  const hono = new Hono()
  hono.post('/hook', honoHandler(receive))
  for (const handler of [fetchHandler(receive), (request: Request) => hono.fetch(request)]) {
    let pulled = 0
    const pull = (controller: ReadableStreamDefaultController) => {
      controller.enqueue(new Uint8Array(2 ** 16))
      if (++pulled === 40) controller.close()
    }
    const body = new ReadableStream({ pull })
    const init = { method: 'POST', body, duplex: 'half' as const }
    expect((await handler(new Request('http://127.0.0.1/hook', init))).status).toBe(413)
    expect(pulled).toBeLessThan(20)
  }
})

describe('a body whose bytes are gone', () => {
  const receive = createReceiver({ secrets: secret })

  test('is an error of the set-up, and says what to do: behind express.json()', async () => {
    const app = express()
    app.use(express.json())
    app.post('/hook', nodeHandler(receive))
    const errors: unknown[] = []
    const report: express.ErrorRequestHandler = (error, _request, response, _next) => {
      errors.push(error)
      response.status(500).end()
    }
    app.use(report)
    const origin = await listening(app)
    const answer = await fetch(`${origin}/hook`, await testDelivery({ type: 'ping' }, secret))
    expect(answer.status).toBe(500)
    expect(errors).toEqual([
      expect.objectContaining({ name: 'TypeError', message: expect.stringContaining('before parsers') }),
    ])
  })

  test('and of a Request that was read', async () => {
    const request = new Request('http://loopback/hook', await testDelivery({ type: 'ping' }, secret))
    await request.text()
    await expect(fetchHandler(receive)(request)).rejects.toThrow(/before parsers/)
  })
})

test('a body that breaks off ends its request and no more, though nobody would catch what Node is not given', async () => {
  const receive = createReceiver({ secrets: secret })
  const handled = Promise.withResolvers<void>()
  const handler = nodeHandler(receive)
  const origin = await listening((request, response) => handled.resolve(handler(request, response)))
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  socket.end('POST /hook HTTP/1.1\r\nHost: loopback\r\nContent-Length: 100\r\n\r\n{"id":')
  await expect(handled.promise).resolves.toBeUndefined()
  expect((await fetch(origin, await testDelivery({ type: 'ping' }, secret))).status).toBe(204)
})

test('another method is answered 405', async () => {
  const receive = createReceiver({ secrets: secret })
  const origin = await listening(nodeHandler(receive))
  for (const answer of [
    await fetch(origin),
    await fetchHandler(receive)(new Request('http://loopback/hook')),
  ]) {
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  }
})

test('a receiver that fails is answered 500, whatever onError does, and nothing rejects', async () => {
  const failures: (() => unknown)[] = [
    () => {
      throw new Error('of onError')
    },
    () => Promise.reject(new Error('of onError, later')),
  ]
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => logged.mockRestore())
  for (const onError of failures) {
    const receiver = createReceiver({ secrets: secret, onError }).on('*', () => {
      throw new Error('of the work')
    })
    const url = await listening(nodeHandler(receiver))
    expect((await fetch(url, await testDelivery({ type: 'ticket.created' }, secret))).status).toBe(500)
  }
  expect(logged.mock.calls.map(([error]) => error.message)).toEqual(['of onError', 'of onError, later'])
})
