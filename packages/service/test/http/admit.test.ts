/** What a request holds before it is worked on, who waits for it, and who is refused. No database. */
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import { type AdmissionLimits, admissionLimits, RequestAdmission } from '../../src/http/admit.ts'
import { createServer } from '../../src/http/server.ts'

const megabyte = 1_000_000
const quick = { waiting: 100, waitingOfOne: 50, waitAtMost: 60_000, share: 1 } as const

/** A service whose requests are answered by `answerAll`, and which believes any client's name. */
async function served(limits: Partial<AdmissionLimits> = {}) {
  const admission = new RequestAdmission({ ...admissionLimits, ...limits })
  const server = createServer(pino({ level: 'silent' }), { admission })
  const lookUps: { readonly isGone: () => boolean; readonly end: () => void }[] = []
  server.addHook('onRequest', async (request) => {
    const organizationId = String(request.headers['x-from'])
    if (request.headers['x-looked-up'] !== undefined)
      await new Promise<void>((end) => lookUps.push({ isGone: () => request.disconnected.aborted, end }))
    request.caller = { organizationId, apiKeyId: organizationId, organizationCreatedAt: 0, scopes: [] }
  })
  const open: (() => void)[] = []
  const whenTold = () => new Promise<string>((resolve) => open.push(() => resolve('{}')))
  server.get('/', whenTold)
  server.post('/', { bodyLimit: 20 * megabyte }, whenTold)
  let made = 0
  server.get('/large', async () => {
    made++
    return 'x'.repeat(20 * megabyte)
  })
  const streams: Readable[] = []
  const offloadedStreams: boolean[] = []
  server.get('/stream', (request, reply) => {
    offloadedStreams.push(request.offloaded)
    const stream = new Readable({ read() {} })
    streams.push(stream)
    return reply.type('text/csv').send(stream)
  })
  server.get('/waiting', async ({ offloaded }) => `${offloaded}${'x'.repeat(2 * megabyte)}`)
  await server.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    for (const answer of open) answer()
    for (const stream of streams) stream.push(null)
    server.server.closeAllConnections()
    await server.close()
  })
  const address = server.server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening')
  const url = `http://127.0.0.1:${address.port}`
  return {
    url,
    port: address.port,
    open,
    made: () => made,
    lookUps,
    streams,
    offloadedStreams,
    standing: () => admission.usage,
    async call(from: string, body?: string) {
      const headers = {
        'x-from': from,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      }
      const answer = await fetch(url, { headers, ...(body === undefined ? {} : { method: 'POST', body }) })
      const { code = null } = (await answer.json()) as { code?: string }
      return { status: answer.status, code, again: answer.headers.get('retry-after') }
    },
    answerAll() {
      for (const answer of open.splice(0)) answer()
    },
    get: async (from: string, path: string) => {
      const answer = await fetch(url + path, { headers: { 'x-from': from } })
      return { status: answer.status, text: await answer.text() }
    },
  }
}

const ownShare = { status: 429, code: 'rate_limited', again: '1' }
const allTaken = { status: 503, code: 'unavailable', again: '1' }
const done = { status: 200, code: null, again: null }
const body = (bytes: number) => '1'.padEnd(bytes, ' ')
const nothingHeld = { requests: 0, memory: 0, waiting: 0 }

test('requests beyond an organization’s share wait, beyond its queue they are 429, and others pass', async () => {
  const requests = { ...quick, capacity: 8, waitingOfOne: 1 }
  const { call, answerAll, standing, open } = await served({ requests })
  const under = Array.from({ length: 4 }, () => call('a'))
  await eventually('they are worked on', () => open.length === 4)
  under.push(call('a'))
  await eventually('the fifth waits', () => standing().waiting === 1)
  expect(await call('a')).toEqual(ownShare)
  under.push(call('b'), call('c'))
  await eventually('others are worked on', () => open.length === 6)
  answerAll()
  await eventually('the fifth is worked on', () => open.length === 1)
  answerAll()
  expect(await Promise.all(under)).toEqual(under.map(() => done))
  await eventually('all is released', () => standing().requests === 0)
})

test('bodies beyond a share wait unread, small ones and others pass, and beyond all that may wait it is 503', async () => {
  const bodies = { ...quick, capacity: 10 * megabyte, waiting: 1 }
  const { call, answerAll, standing, open } = await served({ bodies })
  const under = [call('a', body(4 * megabyte))]
  await eventually('it is worked on', () => open.length === 1)
  under.push(call('a', body(4 * megabyte)))
  await eventually('the next waits', () => standing().waiting === 1)
  under.push(call('a', body(1_000)), call('b', body(2 * megabyte)))
  await eventually('others are worked on', () => open.length === 3)
  expect(standing().memory).toBe(6 * megabyte)
  expect(await call('b', body(3 * megabyte))).toEqual(allTaken)
  answerAll()
  await eventually('the one that waited is read', () => open.length === 1)
  answerAll()
  expect(await Promise.all(under)).toEqual(under.map(() => done))
  await eventually('all is released', () => standing().memory === 0)
})

const head = (bytes: number, from = 'a') =>
  `POST / HTTP/1.1\r\nHost: x\r\nX-From: ${from}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`

test('clients that disconnect while they send or wait hold nothing and wait for nothing', async () => {
  const bodies = { ...quick, capacity: 10 * megabyte }
  const { call, standing, port, open, answerAll } = await served({ bodies })
  const sockets = Array.from({ length: 3 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  for (const socket of sockets) socket.write(`${head(4 * megabyte)}1`)
  await eventually('two of them wait', () => standing().waiting === 2)
  for (const socket of sockets) socket.destroy()
  await eventually('nothing is held', () => {
    const { requests, memory, waiting } = standing()
    return requests + memory + waiting === 0
  })
  const next = call('a', body(4 * megabyte))
  await eventually('the next is worked on', () => open.length === 1)
  answerAll()
  expect(await next).toEqual(done)
})

test('clients that disconnect while their key is looked up hold nothing, and nothing is done for them', async () => {
  const { standing, port, open, lookUps } = await served()
  const heads = [
    'GET / HTTP/1.1\r\nHost: x\r\nX-From: a\r\nX-Looked-Up: 1\r\n\r\n',
    head(megabyte).replace('\r\n', '\r\nX-Looked-Up: 1\r\n'),
  ]
  const sockets = heads.map(() => connect(port, '127.0.0.1').on('error', () => {}))
  for (const [n, socket] of sockets.entries()) socket.write(heads[n] ?? '')
  await eventually('both are looked up', () => lookUps.length === 2)
  for (const socket of sockets) socket.destroy()
  await eventually('they are gone', () => lookUps.every(({ isGone }) => isGone()))
  for (const { end } of lookUps) end()
  await setImmediate()
  expect(standing()).toEqual(nothingHeld)
  expect(open).toEqual([])
})

test('work whose client has disconnected holds what it holds until it ends', async () => {
  const { standing, port, open, answerAll } = await served()
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.write(head(megabyte) + body(megabyte))
  await eventually('it is worked on', () => open.length === 1)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.destroy()
  await closed
  expect(standing()).toEqual({ requests: 1, memory: megabyte, waiting: 0 })
  answerAll()
  await eventually('all is released', () => standing().requests === 0)
  expect(standing()).toEqual(nothingHeld)
})

/** A client that asks and reads nothing. */
function deaf(port: number, from: string, path = '/large') {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-From: ${from}\r\n\r\n`)
  return socket
}

test('a client that does not read its large responses gets no more of them made; another gets its own', async () => {
  const responses = { ...quick, capacity: 80 * megabyte }
  const { standing, port, get, made } = await served({ responses })
  const sockets = [deaf(port, 'a'), deaf(port, 'a')]
  await eventually('they are written', () => standing().memory === 40 * megabyte)
  sockets.push(deaf(port, 'a'))
  await eventually('the third waits', () => standing().waiting === 1)
  expect((await get('b', '/large')).text).toHaveLength(20 * megabyte)
  expect(made()).toBe(3)
  for (const socket of sockets) socket.destroy()
  await eventually('all is released', () => standing().memory + standing().waiting === 0)
  expect((await get('a', '/large')).status).toBe(200)
})

test('a response that turns out larger than what is left is refused, and one of a known size waits', async () => {
  const responses = { ...quick, capacity: 30 * megabyte }
  const { standing, port, get } = await served({ responses })
  const socket = deaf(port, 'b')
  await eventually('it is written', () => standing().memory === 20 * megabyte)
  expect(await get('a', '/large')).toMatchObject({ status: 503 })
  socket.destroy()
  await eventually('all is released', () => standing().memory === 0)
  expect((await get('a', '/large')).status).toBe(200)
  const answers = await Promise.all(Array.from({ length: 4 }, () => get('a', '/large')))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
})

test('first pages of a size that is not known yet are made a few at once', async () => {
  const { standing, port, open, answerAll } = await served()
  const sockets = Array.from({ length: 40 }, () => deaf(port, 'a', '/'))
  await eventually('some are made, the others wait', () => open.length + standing().waiting === 40)
  expect(open.length).toBe(4)
  answerAll()
  await eventually('the next are made', () => open.length === 4)
  for (const socket of sockets) socket.destroy()
})

test('a stream holds 1 MiB while it is sent, however many bytes it has, and is never offloaded', async () => {
  const { standing, port, streams, offloadedStreams } = await served()
  const sockets = Array.from({ length: 9 }, () => deaf(port, 'a', '/stream'))
  await eventually('all of them are sent', () => streams.length === 9)
  await eventually('each holds as much', () => standing().memory === 9 * 1024 * 1024)
  for (const socket of sockets) socket.destroy()
  await eventually('all is released', () => standing().memory === 0)
  const next = deaf(port, 'a', '/stream')
  await eventually('the next is sent', () => streams.length === 10)
  next.destroy()
  expect(offloadedStreams).toEqual(Array(10).fill(false))
})

test('a connection that takes nothing of a large response is closed', async () => {
  const { standing, port } = await served({ readTimeout: 100 })
  const socket = deaf(port, 'a')
  await eventually('it is written', () => standing().memory === 20 * megabyte)
  await eventually('it is closed', () => standing().memory === 0)
  socket.destroy()
})

test('a response that will be large by its rows is offloaded, as the last one was, unless it may wait for changes', async () => {
  const { get } = await served()
  const offloaded = async (path: string) => (await get('a', path)).text.slice(0, 4)
  expect(await offloaded('/waiting')).toBe('fals')
  expect(await offloaded('/waiting')).toBe('true')
  expect(await offloaded('/waiting?wait=1')).toBe('fals')
  expect(await offloaded('/waiting?ids=a,b')).toBe('fals')
})

test('HEAD holds what GET holds', async () => {
  const requests = { ...quick, capacity: 2, waitingOfOne: 1 }
  const { url, standing, open, answerAll } = await served({ requests })
  const head = () => fetch(url, { method: 'HEAD', headers: { 'x-from': 'a' } })
  const first = head()
  await eventually('it is worked on', () => open.length === 1)
  const second = head()
  await eventually('the next one waits', () => standing().waiting === 1)
  expect((await head()).status).toBe(429)
  answerAll()
  await eventually('the next one is worked on', () => open.length === 1)
  answerAll()
  expect([(await first).status, (await second).status]).toEqual([200, 200])
})
