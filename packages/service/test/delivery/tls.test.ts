import { createSecureContext, type TLSSocket } from 'node:tls'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createAuthority } from '../../../testbed/certificates.ts'
import type { ReceiverOptions } from '../../../testbed/receiver.ts'
import { authority, createBench, post, ways } from '../../../testbed/sending.ts'
import { dialFailure, exchangeFailure } from '../../src/delivery/send/failure.ts'
import { createSender } from '../../src/delivery/send/send.ts'

describe.each(ways)('%s', (_way, way) => {
  const bench = createBench(way)
  afterAll(() => bench.close())

  const hourMs = 60 * 60 * 1000
  const past = { notBefore: new Date(Date.now() - 48 * hourMs), notAfter: new Date(Date.now() - hourMs) }
  const future = { notBefore: new Date(Date.now() + hourMs), notAfter: new Date(Date.now() + 48 * hourMs) }
  const good = authority.issue(['localhost'])

  const stranger = createAuthority('A stranger')
  const selfSigned = { cert: stranger.ca, key: stranger.key }
  const strangersOwn = stranger.issue(['localhost'])
  const withItsAuthority = { ...strangersOwn, cert: strangersOwn.cert + stranger.ca }

  describe('no TLS, no request', () => {
    test.each<[string, Partial<ReceiverOptions>, string]>([
      [
        'an unknown authority',
        createAuthority('Another').issue(['localhost']),
        'an authority that is not trusted',
      ],
      ['the certificate of an authority, which signs itself', selfSigned, 'is not one for servers'],
      ['an unknown authority that shows itself', withItsAuthority, 'an authority that is not trusted'],
      ['a certificate of a name above', authority.issue(['test', '*.']), 'is for another name'],
      ['a wildcard that would have to cover it', authority.issue(['*.localhost']), 'is for another name'],
      ['an expired certificate', authority.issue(['localhost'], past), 'has expired'],
      ['a certificate of tomorrow', authority.issue(['localhost'], future), 'is not valid yet'],
      ['another name', authority.issue(['other.test']), 'is for another name'],
      ['an address instead of the name', authority.issue(['127.0.0.1']), 'is for another name'],
      ['no name at all', authority.issue([]), 'is for another name'],
      ['HTTP without TLS', { speaks: 'plain' }, 'No TLS'],
      ['an old protocol', { ...good, tls: { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } }, 'No TLS'],
      ['HTTP/2 alone', { ...good, tls: { ALPNProtocols: ['h2'] } }, 'No TLS'],
    ])('%s', async (_what, options, part) => {
      const receiver = await bench.receiver(options)
      const outcome = await post(bench.sender(), receiver)
      expect(outcome).toMatchObject({
        kind: 'failed',
        code: 'tls_error',
        message: expect.stringContaining(part),
      })
      expect(outcome.kind === 'failed' && outcome.message).toContain(`127.0.0.1:${receiver.port}`)
      expect(receiver.requests).toEqual([])
    })

    test('the usual authorities do not include ours', async () => {
      const receiver = await bench.receiver(good)
      expect(await post(bench.sender({ targetCa: null }), receiver)).toMatchObject({ code: 'tls_error' })
    })

    test.each([
      ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is signed by itself'],
      ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'an intermediate one is missing'],
      ['CERT_REVOKED', 'its certificate was revoked'],
      ['CERT_CHAIN_TOO_LONG', 'in the words of OpenSSL'],
      ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', 'in the words of OpenSSL'],
      ['EPROTO', 'in the words of OpenSSL'],
    ])('%s', (code, part) => {
      const error = Object.assign(new Error('in the words of OpenSSL'), { code })
      expect(dialFailure(error, '192.0.2.1:443', true)).toEqual({
        kind: 'failed',
        code: 'tls_error',
        message: expect.stringMatching(`^No TLS with 192\\.0\\.2\\.1:443: .*${part}`),
      })
    })

    test('a client certificate wanted, which TLS 1.3 says after the handshake', () => {
      const alert = Object.assign(new Error('an alert'), {
        code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
        reason: 'tlsv13 alert certificate required',
      })
      expect(exchangeFailure(alert, '192.0.2.1:443')).toEqual({
        kind: 'failed',
        code: 'tls_error',
        message: 'No TLS with 192.0.2.1:443: tlsv13 alert certificate required',
      })
    })

    test('a peer that hangs up during the handshake has failed as a connection', async () => {
      const receiver = await bench.receiver({ speaks: 'tcp', onTcp: (socket) => socket.destroy() })
      expect(await post(bench.sender(), receiver)).toMatchObject({ code: 'connection_failed' })
    })
  })

  describe('TLS', () => {
    test.each([
      ['a name', 'localhost', 'localhost'],
      ['a name with a dot at its end', 'localhost.', 'localhost'],
      ['a name in capitals', 'LOCALHOST', 'localhost'],
      ['a name of a wildcard', 'a.hook.localhost', '*.hook.localhost'],
      ['an address', '127.0.0.1', '127.0.0.1'],
    ])('with %s', async (_what, host, name) => {
      const receiver = await bench.receiver(authority.issue([name]))
      expect(await post(bench.sender(), receiver, { host })).toMatchObject({ status: 200 })
    })

    test('of version 1.2', async () => {
      const receiver = await bench.receiver({ ...good, tls: { maxVersion: 'TLSv1.2' } })
      expect(await post(bench.sender(), receiver)).toMatchObject({ status: 200 })
    })

    test.each([
      ['localhost', 'localhost'],
      ['LOCALHOST.', 'localhost'],
      // An address is no name that could be indicated (RFC 6066, section 3).
      ['127.0.0.1', undefined],
    ])('to %s indicates the name %s, and gets the certificate that is for it', async (host, indicated) => {
      const names: (string | undefined)[] = []
      const receiver = await bench.receiver({
        ...authority.issue(['127.0.0.1']),
        tls: {
          SNICallback: (name, done) => {
            names.push(name)
            done(null, createSecureContext(authority.issue([name])))
          },
        },
      })
      expect(await post(bench.sender(), receiver, { host })).toMatchObject({ status: 200 })
      expect(names).toEqual(indicated === undefined ? [] : [indicated])
    })

    test('with a receiver that speaks HTTP/2 too goes on in HTTP/1.1', async () => {
      const offered: (string | false | null)[] = []
      const receiver = await bench.receiver({ ...good, tls: { ALPNProtocols: ['h2', 'http/1.1'] } })
      receiver.greet((socket) => offered.push((socket as TLSSocket).alpnProtocol))
      expect(await post(bench.sender(), receiver)).toMatchObject({ status: 200 })
      expect(offered).toEqual(['http/1.1'])
    })

    test('by an authority of a list of several', async () => {
      const another = createAuthority('Another')
      const receiver = await bench.receiver(another.issue(['localhost']))
      const sender = bench.sender({ targetCa: `${authority.ca}\n${another.ca}` })
      expect(await post(sender, receiver)).toMatchObject({ status: 200 })
    })

    test('authorities that cannot be read stop the start', () => {
      const options = {
        resolver: { known: vi.fn(), resolve: vi.fn(), close: vi.fn() },
        clock: { now: () => 0 },
        answerTimeoutMs: 1,
      }
      expect(() =>
        createSender({
          ...options,
          targetCa: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
        }),
      ).toThrow()
    })
  })
})
