/** Offloaded requests, and what becomes of their memory. The other side is an API in this thread. */
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { handleOffloaded } from '../../src/http/offload.ts'

const offloaded = (body: Uint8Array, url = '/echo') => ({
  organizationId: 'a',
  shard: 0,
  method: 'POST',
  url,
  headers: { 'content-type': 'application/octet-stream', 'x-request-id': 'r1' },
  ip: '192.0.2.1',
  // As it comes from another thread.
  body: new Uint8Array(body) as Buffer,
})

function api() {
  const server = Fastify({ bodyLimit: 16 * 2 ** 20 })
  server.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_request, bytes, done) =>
    done(null, bytes),
  )
  server.post('/echo', ({ body, headers, ip }, reply) => {
    reply.code(201).headers({ 'x-request-id': headers['x-request-id'], 'x-from': ip })
    return reply.send(Buffer.from(body as Buffer))
  })
  server.post('/nothing', (_request, reply) => reply.code(204).send())
  return server
}

test('it is answered, and the memory of its body is free', async () => {
  const server = api()
  const request = offloaded(Buffer.alloc(4 * 2 ** 20, 'é'))
  const { status, headers, body } = await handleOffloaded(server, request)
  expect([status, headers['x-request-id'], headers['x-from']]).toEqual([201, 'r1', '192.0.2.1'])
  expect(body.equals(Buffer.alloc(4 * 2 ** 20, 'é'))).toBe(true)
  // To be given away, not copied, when it is sent between threads.
  expect(body.buffer.byteLength).toBe(body.length)
  expect(request.body.length).toBe(0)
})

test('an answer without a body has none', async () => {
  const server = api()
  const { status, headers, body } = await handleOffloaded(server, offloaded(Buffer.from('x'), '/nothing'))
  expect([status, headers['content-length'], body.length]).toEqual([204, undefined, 0])
})
