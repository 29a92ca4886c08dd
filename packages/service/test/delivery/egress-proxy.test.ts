/** Deliveries through the operator's proxy: to the address that was checked, and with the receiver's TLS. */
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { type ProxyOptions, startProxy } from '../../../testbed/connect-proxy.ts'
import { answer } from '../../../testbed/receiver.ts'
import { authority, createBench, post, shortDeadline, ways } from '../../../testbed/sending.ts'

const bench = createBench()
afterAll(() => bench.close())

/** A proxy of this test. */
async function proxy(options: ProxyOptions = {}) {
  const started = await startProxy(options)
  onTestFinished(() => started.close())
  return started
}

describe.each(ways)('connections %s', (_, way) => {
  test.each([false, true])(
    'go through a proxy (with TLS: %s) to the checked address, and are kept',
    async (isSecure) => {
      const { way: egressProxy, heads } = await proxy({
        certified: isSecure ? authority.issue(['localhost']) : null,
      })
      const receiver = await bench.receiver()
      const sender = bench.sender({ egressProxy: { ...egressProxy, authorization: 'Basic c2VjcmV0' } })
      for (let n = 0; n < 2; n++)
        expect(await post(sender, receiver, way)).toMatchObject({ kind: 'answered', status: 200 })
      expect(receiver.requests).toHaveLength(2)
      const at = `127.0.0.1:${receiver.port}`
      const head = `CONNECT ${at} HTTP/1.1\r\nhost: ${at}\r\nproxy-authorization: Basic c2VjcmV0\r\n\r\n`
      // A connection of its own is used for one attempt.
      expect(heads).toEqual(way.ownConnection ? [head, head] : [head])
    },
  )

  test("verify the receiver's certificate by its name", async () => {
    const { way: egressProxy } = await proxy()
    const receiver = await bench.receiver(authority.issue(['another.test']))
    const outcome = await post(bench.sender({ egressProxy }), receiver, way)
    expect(outcome).toMatchObject({ kind: 'failed', code: 'tls_error' })
    expect(outcome).toHaveProperty('message', expect.stringContaining('its certificate is for another name'))
  })
})

test('an address that is not public is refused before the proxy is asked', async () => {
  const { way: egressProxy, heads } = await proxy()
  const receiver = await bench.receiver()
  const sender = bench.sender({ egressProxy, trusted: '10.0.0.0/8' })
  expect(await post(sender, receiver)).toMatchObject({ kind: 'failed', code: 'address_not_public' })
  expect(heads).toEqual([])
})

test('what the proxy says of the receiver counts as the receiver\u2019s, without a word of where the proxy is', async () => {
  const { way: egressProxy } = await proxy()
  const gone = await bench.receiver()
  await gone.close()
  const outcome = await post(bench.sender({ egressProxy }), gone)
  expect(outcome).toMatchObject({
    kind: 'failed',
    code: 'connection_failed',
    message: `The proxy could not connect to 127.0.0.1:${gone.port}: it answered 502`,
  })
})

test.each([
  ['refuses', 'HTTP/1.1 403 Forbidden\r\n\r\n', /^The proxy refused a connection to .*: it answered 403$/],
  ['does not speak HTTP', 'SSH-2.0-OpenSSH\r\n\r\n', 'The proxy did not answer in HTTP/1.1'],
  ['sends a head without end', 'x'.repeat(20_000), 'The proxy did not answer in HTTP/1.1'],
])('a proxy that %s is told apart from the receiver', async (_, text, message) => {
  const { way: egressProxy } = await proxy({ instead: (socket) => socket.end(text) })
  const receiver = await bench.receiver()
  const outcome = await post(bench.sender({ egressProxy }), receiver)
  expect(outcome).toMatchObject({ kind: 'failed', code: 'proxy_failed' })
  expect(outcome).toHaveProperty('message', expect.stringMatching(message))
  expect(receiver.requests).toEqual([])
})

test('a proxy that cannot be reached is, and one that opens no tunnel by the deadline is a timeout', async () => {
  const receiver = await bench.receiver()
  const gone = await bench.receiver()
  await gone.close()
  const nowhere = { isSecure: false, host: '127.0.0.1', port: gone.port, authorization: null }
  expect(await post(bench.sender({ egressProxy: nowhere }), receiver)).toMatchObject({
    code: 'proxy_failed',
    message: 'The proxy cannot be reached (ECONNREFUSED)',
  })
  const { way: egressProxy } = await proxy({ instead: () => {} })
  const impatient = bench.sender({ egressProxy, answerTimeoutMs: shortDeadline })
  expect(await post(impatient, receiver)).toMatchObject({
    code: 'timeout',
    message: `The proxy did not connect to 127.0.0.1:${receiver.port} in time`,
  })
})

test('a receiver that answers 500 through the proxy has answered', async () => {
  const { way: egressProxy } = await proxy()
  const receiver = await bench.receiver()
  receiver.will(answer(500))
  expect(await post(bench.sender({ egressProxy }), receiver)).toMatchObject({ kind: 'answered', status: 500 })
})
