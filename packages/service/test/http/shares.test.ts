/** Over its own share an organization is told 429; where all is taken, 503; both say when to come again. No database. */
import { connect } from 'node:net'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { limitShares, type ShareLimits, shareLimits } from '../../src/http/shares.ts'
import { eventually } from '../harness/locks.ts'

const small = { ...shareLimits, bodies: { large: 4_000, small: 400, smallBody: 100, waitAtMost: 20 } }

/** A service whose requests are answered when told, and which believes whoever says who it is. */
async function served(limits: Partial<ShareLimits>, leavesRoom = false) {
  const server = createServer(pino({ level: 'silent' }))
  server.addHook('onRequest', (request, _reply, done) => {
    const apiKeyId = String(request.headers['x-from'])
    const [organizationId = ''] = apiKeyId.split('/')
    const caller = { organizationId, apiKeyId, organizationCreatedAt: 0, scopes: [] }
    request.caller = caller
    done()
  })
  const { standing } = limitShares(server, { ...small, ...limits }, { leavesRoom: () => leavesRoom })
  const open: (() => void)[] = []
  const whenTold = () => new Promise<string>((resolve) => open.push(() => resolve('{}')))
  server.get('/', whenTold)
  server.post('/', whenTold)
  let made = 0
  for (const path of ['/few', '/many', '/waiting'])
    server.get(path, async (request) => String(request.handedOver))
  server.get('/large', async () => {
    made++
    return 'x'.repeat(20_000_000)
  })
  server.get('/large/told', () => {
    made++
    return new Promise<string>((resolve) => open.push(() => resolve('x'.repeat(20_000_000))))
  })
  await server.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    for (const answer of open) answer()
    server.server.closeAllConnections()
    await server.close()
  })
  const address = server.server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening')
  const url = `http://127.0.0.1:${address.port}`
  const call = async (from: string, body?: string) => {
    const headers = { 'x-from': from, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    const answer = await fetch(url, { headers, ...(body === undefined ? {} : { method: 'POST', body }) })
    const { code = null } = (await answer.json()) as { code?: string }
    return { status: answer.status, code, again: answer.headers.get('retry-after') }
  }
  const answerAll = () => {
    for (const answer of open.splice(0)) answer()
  }
  return { call, answerAll, standing, url, port: address.port, open, made: () => made }
}

const ownShare = { status: 429, code: 'rate_limited', again: '1' }
const allTaken = { status: 503, code: 'unavailable', again: '1' }
const done = { status: 200, code: null, again: null }

test('requests: whoever has its share is told so, and nobody else until nothing is left', async () => {
  const { call, answerAll, standing } = await served({ requests: 8 })
  const under = ['a', 'a', 'a', 'a'].map((from) => call(from, '{}'))
  await eventually('they are there', () => standing().requests === 4)
  expect(await call('a', '{}')).toEqual(ownShare)
  for (const from of ['b', 'b', 'c']) {
    const before = standing().requests
    under.push(call(from, '{}'))
    await eventually('it is there', () => standing().requests === before + 1)
  }
  // The last one is for nobody: to have it would be to have more than is free.
  expect(await call('e', '{}')).toEqual(allTaken)
  expect(await call('a', '{}')).toEqual(ownShare)
  answerAll()
  expect(await Promise.all(under)).toEqual(under.map(() => done))
  await eventually('all is given back', () => standing().requests === 0)
})

const body = (bytes: number) => '1'.padEnd(bytes, ' ')

test('bodies: one that finds no room for long is refused, unread', async () => {
  const { call, answerAll, standing, open } = await served({})
  const under = [call('a/1', body(1_000)), call('a/2', body(1_000))]
  await eventually('they are there', () => open.length === 2)
  expect(await call('a/1', body(1_000))).toEqual(ownShare)
  expect(await call('a/3', body(1_000))).toEqual(ownShare)
  // Small ones of it, and large ones of others, go by.
  under.push(call('a/1', body(100)), call('b/1', body(1_000)))
  await eventually('they are there too', () => open.length === 4)
  expect(standing().bodyBytes).toBe(3_100)
  expect(await call('c/1', body(1_000))).toEqual(allTaken)
  answerAll()
  expect(await Promise.all(under)).toEqual(under.map(() => done))
  await eventually('all is given back', () => standing().bodyBytes === 0)
})

test('bodies: one that waits is read when there is room, and others do not go past it for ever', async () => {
  const { call, answerAll, standing, open } = await served({
    bodies: { ...small.bodies, waitAtMost: 60_000 },
  })
  const under = [call('a/1', body(1_000)), call('b/1', body(1_000)), call('c/1', body(900))]
  await eventually('they are there', () => open.length === 3)
  under.push(call('d/1', body(1_000)))
  await eventually('it waits', () => standing().bodiesWaiting === 1)
  // There would be room for this one.
  under.push(call('e/1', body(400)))
  await eventually('it waits too', () => standing().bodiesWaiting === 2)
  // A small one does, of the very key that waits.
  under.push(call('d/1', body(50)))
  await eventually('it is read', () => open.length === 4)
  answerAll()
  await eventually('both are read', () => open.length === 2)
  answerAll()
  expect(await Promise.all(under)).toEqual(under.map(() => done))
})

test('bodies: those of one who is gone hold nothing and wait for nothing', async () => {
  const { call, standing, port, open, answerAll } = await served({
    bodies: { ...small.bodies, waitAtMost: 60_000 },
  })
  const head = `POST / HTTP/1.1\r\nHost: x\r\nX-From: a/1\r\nContent-Type: application/json\r\nContent-Length: 1500\r\n\r\n1`
  const sockets = Array.from({ length: 3 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  for (const socket of sockets) socket.write(head)
  await eventually('two of them wait', () => standing().bodiesWaiting === 2)
  for (const socket of sockets) socket.destroy()
  await eventually(
    'nothing is held',
    () => standing().bodyBytes + standing().bodiesWaiting + standing().requests === 0,
  )
  const next = call('a/1', body(1_500))
  await eventually('the next is read', () => open.length === 1)
  answerAll()
  expect(await next).toEqual(done)
})

test('bodies: work whose client has disconnected holds its bytes until it ends', async () => {
  const { standing, port, open, answerAll } = await served({})
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.write(
    `POST / HTTP/1.1\r\nHost: x\r\nX-From: a/1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n${body(1_000)}`,
  )
  await eventually('it is being answered', () => open.length === 1)
  socket.destroy()
  await eventually('its connection is gone', () => standing().requests === 0)
  expect(standing().bodyBytes).toBe(1_000)
  answerAll()
  await eventually('all is given back', () => standing().bodyBytes === 0)
})

/** Of those whose size is not known one is made, however slow this machine. */
const answersOf = (total: number) => ({ ...shareLimits.answers, total, waitsForFirst: 600_000 })

/** A client that asks and reads nothing. */
function deaf(port: number, from: string, path = '/large') {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-From: ${from}\r\n\r\n`)
  return socket
}

test('answers: who does not read the large ones it asked for gets no more of them', async () => {
  const { standing, port, url } = await served({ answers: answersOf(100_000_000) })
  const sockets = [deaf(port, 'a/1'), deaf(port, 'a/1')]
  await eventually('they are written', () => standing().answerBytes === 40_000_000)
  const ask = (from: string) => fetch(`${url}/large`, { headers: { 'x-from': from } })
  const refused = await ask('a/1')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  expect(((await refused.json()) as { code: string }).code).toBe('rate_limited')
  expect((await (await ask('b/1')).text()).length).toBe(20_000_000)
  for (const socket of sockets) socket.destroy()
  await eventually('all is given back', () => standing().answerBytes === 0)
  expect((await (await ask('a/1')).text()).length).toBe(20_000_000)
})

test('answers: a connection that takes nothing is cut, and holds nothing any more', async () => {
  const { standing, port } = await served({ takesWithin: 100 })
  const socket = deaf(port, 'a/1')
  await eventually('it is written', () => standing().answerBytes > 0)
  await eventually('it is cut', () => standing().answerBytes === 0)
  socket.destroy()
})

test('answers: what would not fit beside those that are not yet taken is refused before it is made', async () => {
  const { standing, url, port, made } = await served({ answers: answersOf(100_000_000) })
  const sockets = ['a/1', 'a/2'].map((from) => deaf(port, from))
  await eventually('they are written', () => standing().answerBytes === 40_000_000)
  expect(made()).toBe(2)
  const answer = await fetch(`${url}/large`, { headers: { 'x-from': 'a/3' } })
  expect([answer.status, made()]).toEqual([429, 2])
  const other = await fetch(`${url}/large`, { headers: { 'x-from': 'b/1' } })
  expect([other.status, (await other.text()).length]).toEqual([200, 20_000_000])
  for (const socket of sockets) socket.destroy()
  await eventually('nothing is held', () => standing().answerBytes === 0)
  expect((await fetch(`${url}/large`, { headers: { 'x-from': 'a/3' } })).status).toBe(200)
})

test('answers: of large ones that are asked for at once, those that will not fit are not made', async () => {
  const { answerAll, standing, port, made, open } = await served({ answers: answersOf(100_000_000) })
  const sockets = Array.from({ length: 6 }, (_, n) => deaf(port, `a/${n}`, '/large/told'))
  await eventually('all came in', () => standing().requests === 6)
  for (const few of [1, 2]) {
    await eventually('the next is being made', () => made() === few && open.length === 1)
    answerAll()
  }
  await eventually('the others were refused', () => standing().requests === 2)
  expect([made(), open.length, standing().answerBytes]).toEqual([2, 0, 40_000_000])
  for (const socket of sockets) socket.destroy()
  await eventually('nothing is held', () => standing().answerBytes === 0)
})

test('answers: whoever reads the large ones gets all of them, one made at a time', async () => {
  const { answerAll, standing, url, made, open } = await served({ answers: answersOf(400_000_000) })
  const asked = Array.from({ length: 6 }, async (_, n) => {
    const answer = await fetch(`${url}/large/told`, { headers: { 'x-from': `a/${n}` } })
    return (await answer.text()).length
  })
  for (const few of [1, 2, 3, 4, 5, 6]) {
    await eventually('the next is being made', () => made() === few && open.length === 1)
    answerAll()
    await eventually('it was read', () => standing().answerBytes === 0 && standing().requests === 6 - few)
  }
  expect(await Promise.all(asked)).toEqual(Array(6).fill(20_000_000))
})

test('answers: whoever holds more than is left, as others took some since, gets what is small all the same', async () => {
  const { call, answerAll, standing, port, open } = await served({ answers: answersOf(100_000_000) })
  const sockets = ['a/1', 'a/2', 'b/1', 'c/1'].map((from) => deaf(port, from))
  await eventually('they are written', () => standing().answerBytes === 80_000_000)
  const small = [call('a/1'), call('a/2', '{}')]
  await eventually('both came in', () => open.length === 2)
  answerAll()
  expect(await Promise.all(small)).toEqual([done, done])
  for (const socket of sockets) socket.destroy()
})

test('of who asks for many records nobody finds out here how large they are, where processors are short', async () => {
  const handedOver = async (leavesRoom: boolean) => {
    const { url } = await served({}, leavesRoom)
    const answers: string[] = []
    for (const path of ['/few?limit=20', '/many?limit=21', '/waiting?limit=100&wait=1', '/many?limit=100']) {
      const answer = await fetch(`${url}${path}`, { headers: { 'x-from': 'a/1' } })
      answers.push(await answer.text())
    }
    return answers
  }
  // The second time one knows how large the first was.
  expect(await handedOver(true)).toEqual(['false', 'true', 'false', 'false'])
  expect(await handedOver(false)).toEqual(['false', 'false', 'false', 'false'])
})
