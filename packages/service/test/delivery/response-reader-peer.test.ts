/**
 * The reader of answers beside llhttp, the parser of Node, which reads here through undici: what both read is the same, and no
 * connection is used again whose answer llhttp would not have read to the same end. Of a head that is not by the letter the
 * status alone is read, and the connection is not used again.
 */
import { Duplex } from 'node:stream'
import fc from 'fast-check'
import { Client } from 'undici'
import { expect, test } from 'vitest'
import { damaged } from './damaged-answer.fixture.ts'
import { answers, outcomeOf, shown } from './generated-response.fixture.ts'

interface PeerOutcome {
  /** 0 when there was none. */
  status: number
  body: string
  /** Why it is no answer after all. */
  error: string | null
  /** Whether it was complete, and the connection good for another request, before the connection ended. */
  kept: boolean
}

const request = { path: '/', method: 'POST', body: 'event' } as const

/** The client's end of a connection; `onRequest` is called when the whole request has been written. */
function createWire(onRequest: () => void): Duplex {
  let written = ''
  const wire = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString('latin1')
      if (written.endsWith(`\r\n\r\n${request.body}`)) onRequest()
      done()
    },
  })
  // The client tells of it.
  return wire.on('error', () => {})
}

function createClient(wire: Duplex): Client {
  const connect = (_to: unknown, callback: (error: null, socket: Duplex) => void) =>
    queueMicrotask(() => callback(null, wire))
  // What a receiver hints of how long it keeps a connection is not looked at.
  const options = { connect, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeoutThreshold: -1000 }
  return new Client('http://receiver.test', options as unknown as Client.Options)
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** What undici makes of these bytes as the answer to a POST, with the end of the connection after them. */
async function peerOutcomeOf(bytes: string): Promise<PeerOutcome> {
  const outcome: PeerOutcome = { status: 0, body: '', error: null, kept: false }
  const written = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  let complete = false
  const wire = createWire(written.resolve)
  const client = createClient(wire)
  client.dispatch(request, {
    onRequestStart() {},
    onResponseStart(_controller, status) {
      outcome.status = status
    },
    onResponseData(_controller, chunk) {
      outcome.body += chunk.toString('latin1')
    },
    onResponseEnd() {
      complete = true
      ended.resolve()
    },
    onResponseError(_controller, error) {
      outcome.error = String(error)
      ended.resolve()
    },
  })
  await written.promise
  wire.push(bytes, 'latin1')
  // It is read in the one, and closed in the other when the client would close it.
  await nextTurn()
  await nextTurn()
  outcome.kept = complete && !wire.destroyed
  wire.push(null)
  await ended.promise
  await client.destroy()
  return outcome
}

/** undici refuses a 100 that it has not asked for; llhttp reads it. */
const anybodys = (bytes: string) => !/HTTP\/1\.[01] 100/.test(bytes)

let [statuses, reuses] = [0, 0]

async function compare(bytes: string): Promise<void> {
  const { status, text, reusable } = outcomeOf([bytes])
  if (status === 0) return
  const peer = await peerOutcomeOf(bytes)
  statuses++
  if (peer.error === null) expect(peer.status).toBe(status)
  if (!reusable) return
  reuses++
  expect({ ...peer, body: shown(peer.body) }).toEqual({ status, body: text, error: null, kept: true })
}

test('answers', async () => {
  await fc.assert(
    fc.asyncProperty(answers, ({ bytes }) => compare(bytes)),
    { numRuns: 500 },
  )
  expect(statuses).toBe(500)
  expect(reuses).toBeGreaterThan(50)
})

test('damaged answers', async () => {
  ;[statuses, reuses] = [0, 0]
  await fc.assert(
    fc.asyncProperty(damaged.filter(anybodys), (bytes) => compare(bytes)),
    { numRuns: 3000 },
  )
  expect(statuses).toBeGreaterThan(500)
  expect(reuses).toBeGreaterThan(50)
})

test('the peer tells apart what it is asked about', async () => {
  const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n'
  expect(await peerOutcomeOf(`${ok}\r\nok`)).toEqual({ status: 200, body: 'ok', error: null, kept: true })
  expect(await peerOutcomeOf(`${ok}connection: close\r\n\r\nok`)).toMatchObject({ error: null, kept: false })
  expect(await peerOutcomeOf(`${ok}\r\no`)).toMatchObject({ error: expect.any(String), kept: false })
  expect(await peerOutcomeOf('banana')).toMatchObject({ status: 0, error: expect.any(String) })
})
