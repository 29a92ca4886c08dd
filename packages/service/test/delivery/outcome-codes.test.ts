/** From what a receiver does to the code in the log: every code, and what brings it about. A code without a row does not compile. */
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startProxy } from '../../../testbed/connect-proxy.ts'
import { type DnsServer, startDnsServer } from '../../../testbed/dns-server.ts'
import { startFullBacklog } from '../../../testbed/full-backlog.ts'
import {
  answer,
  type Behaviour,
  endless,
  hangUp,
  neverAnswer,
  raw,
  reset,
} from '../../../testbed/receiver.ts'
import { authority, createBench, post, shortDeadline, ways } from '../../../testbed/sending.ts'
import type { DeliveryErrorCode } from '../../src/delivery/model.ts'
import { type AttemptOutcome, decide } from '../../src/delivery/verdict.ts'

describe.each(ways)('%s', (_way, way) => {
  const bench = createBench(way)
  let dns: DnsServer
  beforeAll(async () => {
    dns = await startDnsServer()
    dns.set('private.test', { addresses: ['10.0.0.1'] })
    dns.set('mixed.test', { addresses: ['127.0.0.1', '10.0.0.1'] })
    dns.set('empty.test', { addresses: [] })
    dns.set('failing.test', 'SERVFAIL')
    dns.set('silent.test', 'silence')
  })
  afterAll(async () => {
    await dns.close()
    await bench.close()
  })

  type Making = () => Promise<AttemptOutcome>

  // Only where the deadline is what the attempt ends with: elsewhere a busy machine might take as long.
  const impatient = () => bench.sender({ answerTimeoutMs: shortDeadline, servers: [dns.address] })
  const waitsForLock = () => bench.sender({ servers: [dns.address] })
  const to =
    (behaviour: Behaviour, sender = waitsForLock): Making =>
    async () => {
      const receiver = await bench.receiver()
      receiver.will(behaviour)
      return post(sender(), receiver)
    }
  const toHost =
    (host: string, sender = waitsForLock): Making =>
    () =>
      post(sender(), { port: 443 }, { host })

  const never = (kind: 'endpoint_disabled' | 'subject_unavailable' | 'worker_lost'): Making => {
    return async () => ({ kind, message: 'nothing was sent' })
  }

  const through = async (instead: (socket: Socket) => void) => {
    const proxy = await startProxy({ instead })
    onTestFinished(() => proxy.close())
    return post(bench.sender({ egressProxy: proxy.way }), await bench.receiver())
  }

  const table: Readonly<Record<DeliveryErrorCode, Readonly<Record<string, Making>>>> = {
    timeout: {
      'no connection in time': async () => {
        const full = await startFullBacklog()
        onTestFinished(() => full.close())
        return post(impatient(), full)
      },
      'no TLS in time': async () => post(impatient(), await bench.receiver({ speaks: 'tcp' })),
      'no answer': to(neverAnswer, impatient),
      'headers that drip': to(endless('HTTP/1.1 200 OK\r\n', 'x-drip: 1\r\n', 30), impatient),
      'interim answers alone': to(endless('', 'HTTP/1.1 102 Processing\r\n\r\n', 30), impatient),
    },
    connection_failed: {
      refused: async () => {
        const gone = await bench.receiver()
        await gone.close()
        return post(waitsForLock(), gone)
      },
      'closed early': to(hangUp),
      reset: to(reset),
      'not HTTP': to(raw('SSH-2.0-OpenSSH_9.9\r\n')),
      'a malformed status line': to(raw('HTTP/1.1 OK\r\nx: y\r\n\r\n')),
      'headers without end': to(endless('HTTP/1.1 200 OK\r\n', `x-filler: ${'y'.repeat(4096)}\r\n`, 1)),
      'another protocol agreed to': to(
        raw('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      ),
    },
    tls_error: {
      'another name': async () => post(waitsForLock(), await bench.receiver(authority.issue(['other.test']))),
      'no TLS': async () => post(waitsForLock(), await bench.receiver({ speaks: 'plain' })),
      'TLS 1.1': async () =>
        post(waitsForLock(), await bench.receiver({ tls: { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } })),
      'HTTP/2 alone': async () =>
        post(waitsForLock(), await bench.receiver({ tls: { ALPNProtocols: ['h2'] } })),
    },
    redirect: Object.fromEntries(
      [300, 301, 302, 303, 304, 307, 308].map((status) => [
        status,
        to(answer(status, '', { location: 'https://a.test/' })),
      ]),
    ),
    non_2xx: Object.fromEntries(
      [400, 401, 404, 410, 429, 500, 503].map((status) => [status, to(answer(status))]),
    ),
    address_not_public: {
      'a private address': toHost('private.test'),
      'one of several': toHost('mixed.test'),
      'no such name': toHost('missing.test'),
      'an address in the URL': toHost('192.168.0.1'),
    },
    resolver_failed: {
      'a server that fails': toHost('failing.test'),
      'a server that is silent': toHost('silent.test', impatient),
      'a server that has no address': toHost('empty.test'),
    },
    proxy_failed: {
      refused: () => through((socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')),
      'without credentials': () =>
        through((socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')),
      'closed early': () => through((socket) => socket.end()),
      'not HTTP': () => through((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n\r\n')),
    },
    endpoint_disabled: { 'found disabled': never('endpoint_disabled') },
    subject_unavailable: { gone: never('subject_unavailable') },
    worker_lost: { 'alone when its worker died': never('worker_lost') },
  }

  const delivery = { attemptCount: 0, attemptsBefore: 0, maxAttempts: 6, isControl: false }

  test.each<[boolean | undefined, DeliveryErrorCode, string]>([
    [undefined, 'resolver_failed', 'a server that fails'],
    [false, 'timeout', 'no connection in time'],
    [false, 'connection_failed', 'refused'],
    [true, 'timeout', 'no TLS in time'],
    [true, 'timeout', 'no answer'],
    [true, 'connection_failed', 'reset'],
    [true, 'tls_error', 'another name'],
  ])('a handshake was made or begun: %s for %s, %s', async (handshake, code, cause) => {
    const outcome = await table[code][cause]?.()
    expect(outcome?.kind === 'failed' && outcome.handshake).toBe(handshake)
  })

  describe.each(Object.entries(table))('%s', (code, causes) => {
    test.each(Object.entries(causes))('%s', async (_cause, make) => {
      const { error, status } = decide(delivery, await make(), 0, { delays: [60_000], random: 0 })
      expect(error).toEqual({ code, message: expect.stringMatching(/./) })
      expect(status).not.toBe('succeeded')
    })
  })

  test.each([200, 201, 202, 204, 206, 299])('%i is a success', async (status) => {
    const outcome = await to(answer(status))()
    expect(decide(delivery, outcome, 0, { delays: [60_000], random: 0 })).toMatchObject({
      error: null,
      status: 'succeeded',
    })
  })
})
