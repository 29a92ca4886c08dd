import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { startDnsServer } from '../../../testbed/dns-server.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { startFullBacklog } from '../../../testbed/full-backlog.ts'
import {
  answer,
  type Behaviour,
  endless,
  neverAnswer,
  type ReceiverOptions,
  raw,
} from '../../../testbed/receiver.ts'
import { createBench, post, shortDeadline, ways } from '../../../testbed/sending.ts'

describe.each(ways)('%s', (_way, way) => {
  const bench = createBench(way)
  afterAll(() => bench.close())

  /** Timers and a loaded machine; far from the next thing that could end an attempt. */
  const slackMs = 1500

  async function timed<T>(work: Promise<T>): Promise<{ outcome: T; tookMs: number }> {
    const from = performance.now()
    const outcome = await work
    return { outcome, tookMs: performance.now() - from }
  }

  test.each<[string, Behaviour]>([
    ['never answers', neverAnswer],
    ['sends half a status line', raw('HTTP/1.1 2')],
    ['drips its headers', endless('HTTP/1.1 200 OK\r\n', 'x-drip: 1\r\n', 30)],
    ['sends interim answers for ever', endless('', 'HTTP/1.1 102 Processing\r\n\r\n', 5)],
    ['tells to continue for ever', endless('', 'HTTP/1.1 100 Continue\r\n\r\n', 5)],
  ])('a receiver that %s is a timeout', async (_what, behaviour) => {
    const sender = bench.sender({ answerTimeoutMs: shortDeadline })
    const receiver = await bench.receiver()
    receiver.will(behaviour)
    const { outcome, tookMs } = await timed(post(sender, receiver))
    expect(outcome).toMatchObject({
      kind: 'failed',
      code: 'timeout',
      message: expect.stringContaining(`127.0.0.1:${receiver.port} did not`),
      // The timer is a little late.
      durationMs: shortDeadline,
    })
    expect(tookMs).toBeGreaterThan(shortDeadline * 0.9)
    expect(tookMs).toBeLessThan(shortDeadline + slackMs)
    await eventually('its connections are closed', () => receiver.open === 0)
  })

  test('a peer that never accepts is a timeout', async () => {
    const full = await startFullBacklog()
    onTestFinished(() => full.close())
    const sender = bench.sender({ answerTimeoutMs: shortDeadline })
    const { outcome, tookMs } = await timed(post(sender, full))
    expect(outcome).toMatchObject({
      code: 'timeout',
      message: `127.0.0.1:${full.port} did not accept the connection in time`,
    })
    expect(tookMs).toBeLessThan(shortDeadline + slackMs)
  })

  test('an address that never accepts is given up for the next one, within the same deadline', async () => {
    const full = await startFullBacklog()
    const second = await bench.receiver({ host: '127.0.0.2', port: full.port })
    const dns = await startDnsServer()
    onTestFinished(async () => {
      await dns.close()
      await full.close()
    })
    dns.set('hook.test', { addresses: ['127.0.0.1', '127.0.0.2'] })
    const sender = bench.sender({
      answerTimeoutMs: 6 * shortDeadline,
      servers: [dns.address],
      trusted: '127.0.0.0/8',
    })
    expect(await post(sender, full, { host: 'hook.test' })).toMatchObject({ status: 200 })
    second.will(neverAnswer)
    const { outcome, tookMs } = await timed(post(sender, full, { host: 'hook.test' }))
    expect(outcome).toMatchObject({ code: 'timeout' })
    expect(tookMs).toBeLessThan(6 * shortDeadline + slackMs)
  })

  test('an address that accepts late is waited for, though another one refuses', async () => {
    const receiver = await bench.receiver()
    // The first packet is lost, as it were, and comes again after a second.
    const full = await startFullBacklog({ afterMs: 500, port: receiver.port })
    const dns = await startDnsServer()
    onTestFinished(async () => {
      await dns.close()
      await full.close()
    })
    dns.set('hook.test', { addresses: ['127.0.0.1', '127.0.0.2'] })
    const sender = bench.sender({ servers: [dns.address], trusted: '127.0.0.0/8' })
    expect(await post(sender, full, { host: 'hook.test' })).toMatchObject({ status: 200 })
  })

  test.each<[string, Partial<ReceiverOptions>]>([
    ['accepts and never speaks TLS', {}],
    // The beginning of a record of 16 KiB, then a byte of it at a time.
    ['drips its TLS handshake', { onTcp: endless('\x16\x03\x03\x40\x00', '\x02', 20) }],
  ])('a peer that %s is a timeout', async (_does, options) => {
    const sender = bench.sender({ answerTimeoutMs: shortDeadline })
    const receiver = await bench.receiver({ speaks: 'tcp', ...options })
    const { outcome, tookMs } = await timed(post(sender, receiver))
    expect(outcome).toMatchObject({
      code: 'timeout',
      message: `127.0.0.1:${receiver.port} did not finish the TLS handshake in time`,
    })
    expect(tookMs).toBeLessThan(shortDeadline + slackMs)
    await eventually('its connections are closed', () => receiver.open === 0)
  })

  test('a peer that reads nothing of a large request is a timeout', async () => {
    const sender = bench.sender({ answerTimeoutMs: shortDeadline })
    const receiver = await bench.receiver()
    receiver.greet((socket) => socket.pause())
    const { outcome, tookMs } = await timed(post(sender, receiver, { body: Buffer.alloc(32 * 1024 * 1024) }))
    expect(outcome).toMatchObject({ code: 'timeout' })
    expect(tookMs).toBeLessThan(shortDeadline + slackMs)
  })

  test('a name server that is silent is a failure of the resolver', async () => {
    const dns = await startDnsServer()
    dns.set('hook.test', 'silence')
    const sender = bench.sender({ answerTimeoutMs: shortDeadline, servers: [dns.address] })
    const { outcome, tookMs } = await timed(post(sender, { port: 443 }, { host: 'hook.test' }))
    expect(outcome).toMatchObject({ code: 'resolver_failed', message: expect.stringContaining('hook.test') })
    expect(tookMs).toBeLessThan(shortDeadline + slackMs)
    await dns.close()
  })

  test.each([
    ['a path that hangs', '/sick', '/healthy'],
    // As of endpoints of several organizations that are registered with one URL.
    ['requests that hang', '/hook', '/hook'],
  ])('%s hold up no other of the same host', async (_what, sick, healthy) => {
    const [sender, receiver] = [bench.sender(), await bench.receiver()]
    receiver.will((socket, request, below) => {
      if (request.headers['x-well'] !== undefined) answer(200)(socket, request, below)
    })
    const hanging = Array.from({ length: 40 }, () => post(sender, receiver, { path: sick }))
    await eventually('40 requests have come', () => receiver.requests.length === 40)
    const well = post(sender, receiver, { path: healthy, headers: { 'x-well': '1' } })
    expect(await Promise.race([well, ...hanging])).toMatchObject({ status: 200 })
    sender.close()
    const outcomes = await Promise.all(hanging)
    expect(outcomes.map((outcome) => outcome.kind === 'failed' && outcome.code)).toEqual(
      Array(40).fill('timeout'),
    )
  })

  test('closing the sender ends what is under way at once', async () => {
    const sender = bench.sender()
    const receiver = await bench.receiver()
    receiver.will(neverAnswer)
    const underWay = post(sender, receiver)
    await eventually('a request has come', () => receiver.requests.length === 1)
    sender.close()
    expect(await underWay).toMatchObject({ code: 'timeout' })
    expect(await post(sender, receiver)).toMatchObject({ kind: 'failed' })
    await eventually('its connections are closed', () => receiver.open === 0)
  })
})
