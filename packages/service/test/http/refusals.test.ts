/** Refusals leave room: one after another of an organization, as far apart as it is told, and nothing else of it waits. Time is moved by hand. */
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import pino from 'pino'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { Caller } from '../../src/access/directory.ts'
import { sendProblem } from '../../src/http/problem-reply.ts'
import { Refusals } from '../../src/http/refusals.ts'
import { createServer } from '../../src/http/server.ts'
import { problem } from '../../src/kernel/errors.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => vi.useRealTimers())

function refusing(rest: { after: number }) {
  const worked: (string | null)[] = []
  const out: string[] = []
  const refusals = new Refusals((organizationId) => {
    worked.push(organizationId)
    return rest.after
  })
  return {
    worked,
    out,
    refuse(organizationId: string, times = 1) {
      for (let n = 0; n < times; n++) refusals.enter(organizationId, () => out.push(organizationId))
    },
  }
}

test('while nothing is to be left to others, each goes out at once', () => {
  const { out, refuse, worked } = refusing({ after: 0 })
  refuse('a', 1_000)
  expect(out).toHaveLength(1_000)
  expect(worked[0]).toBe('a')
})

test('beside others the first goes out at once and the next after a rest each; another organization has its own', () => {
  const rest = { after: 30 }
  const { out, refuse } = refusing(rest)
  refuse('a', 10)
  refuse('b')
  expect(out).toEqual(['a', 'b'])
  vi.advanceTimersByTime(29)
  expect(out).toEqual(['a', 'b'])
  vi.advanceTimersByTime(31)
  expect(out).toEqual(['a', 'b', 'a', 'a'])
  // And all that wait as soon as there is none to rest for.
  rest.after = 0
  vi.advanceTimersByTime(30)
  expect(out.filter((one) => one === 'a')).toHaveLength(10)
  refuse('a')
  expect(out).toHaveLength(12)
})

test('no more than so many wait: what comes on top of them goes out at once', () => {
  const { out, refuse } = refusing({ after: 30 })
  refuse('a', 1_000)
  expect(out).toHaveLength(700)
  vi.advanceTimersByTime(30)
  expect(out).toHaveLength(701)
  // After a rest that nobody waited for, the next one is the first again.
  vi.advanceTimersByTime(301 * 30)
  expect(out).toHaveLength(1_000)
  refuse('a')
  expect(out).toHaveLength(1_001)
})

test('who leaves holds up nobody behind', () => {
  const refusals = new Refusals(() => 30)
  const out: number[] = []
  const [first, second, third] = [1, 2, 3].map((n) => () => void out.push(n)) as [
    () => void,
    () => void,
    () => void,
  ]
  for (const go of [first, second, third]) refusals.enter('a', go)
  refusals.leave('a', second)
  refusals.leave('a', second)
  refusals.leave('b', third)
  vi.advanceTimersByTime(30)
  expect(out).toEqual([1, 3])
})

test('refusals of a request and of a key are held back, and nothing that is done is, nor what has no key', async () => {
  const server = createServer(pino({ level: 'silent' }), {
    room: { note() {}, leavesRoom: () => false, restAfter: () => 30 },
  })
  onTestFinished(() => server.close())
  const refusal = problem('invalid_parameter', 'Not that.')
  server.get<{ Params: { who: string; what: string } }>('/:who/:what', async (request, reply) => {
    const { who, what } = request.params
    if (who === 'key') request.refusedTo = 'a'
    if (who === 'of') request.caller = { organizationId: 'a' } as Caller
    return what === 'done' ? 'done' : sendProblem(reply, refusal)
  })
  const answered: string[] = []
  const ask = async (url: string) => {
    const { statusCode } = await server.inject({ url })
    answered.push(`${url} ${statusCode}`)
  }
  await ask('/of/refused')
  const held = [ask('/of/refused'), ask('/key/refused')]
  await ask('/of/done')
  await ask('/nobody/refused')
  expect(answered).toEqual(['/of/refused 400', '/of/done 200', '/nobody/refused 400'])
  vi.advanceTimersByTime(60)
  await Promise.all(held)
  expect(answered.slice(3)).toEqual(['/of/refused 400', '/key/refused 400'])
})

test.each(['onRequest', 'preHandler'] as const)(
  'a client that leaves while its refusal waits gets no further than it was refused: %s',
  async (hook) => {
    const logged: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) })
    const server = createServer(log, { room: { note() {}, leavesRoom: () => false, restAfter: () => 30 } })
    onTestFinished(() => server.close())
    const refusal = problem('insufficient_scope', 'Not with this key.')
    let refused = 0
    const waits = Promise.withResolvers<void>()
    const gone = Promise.withResolvers<void>()
    // As what lets a key in, and what answers elsewhere.
    server.addHook(hook, async (request, reply) => {
      request.refusedTo = 'a'
      refused++
      if (refused === 2) {
        reply.raw.once('close', () => setImmediate(gone.resolve))
        setImmediate(waits.resolve)
      }
      return sendProblem(reply, refusal)
    })
    let handled = 0
    server.get('/', () => {
      handled++
      return 'done'
    })
    await server.listen({ host: '127.0.0.1', port: 0 })
    const { port } = server.server.address() as AddressInfo
    const ask = () => {
      const socket = connect(port, '127.0.0.1')
      socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
      return socket
    }
    const answered = ask()
    await once(answered, 'data')
    const leaves = ask()
    await waits.promise
    leaves.destroy()
    await gone.promise
    vi.advanceTimersByTime(60)
    answered.destroy()
    expect({ handled, logged }).toEqual({ handled: 0, logged: [] })
  },
)
