/** Handshakes that resume a session: with whom, for how long, and what is looked at all the same. */
import type { TLSSocket } from 'node:tls'
import { afterAll, describe, expect, test } from 'vitest'
import { createAuthority } from '../../../testbed/certificates.ts'
import { eventually } from '../../../testbed/eventually.ts'
import type { Receiver } from '../../../testbed/receiver.ts'
import { authority, createBench, post, ways } from '../../../testbed/sending.ts'
import { TlsSessions } from '../../src/delivery/send/dial.ts'

describe.each(ways)('%s', (_way, way) => {
  const bench = createBench(way)
  afterAll(() => bench.close())

  /** For each connection of the receiver, whether it resumed a session. */
  function watch(receiver: Receiver): boolean[] {
    const resumed: boolean[] = []
    receiver.greet((socket) => resumed.push((socket as TLSSocket).isSessionReused()))
    return resumed
  }

  async function hangUp(receiver: Receiver): Promise<void> {
    receiver.hangUpAll()
    await eventually('its connections are closed', () => receiver.open === 0)
  }

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'with %s the next connection of an organization to an origin resumes, and nobody else does',
    async (maxVersion) => {
      const [sender, receiver] = [bench.sender(), await bench.receiver({ tls: { maxVersion } })]
      const resumed = watch(receiver)
      for (let round = 0; round < 4; round++) {
        expect(await post(sender, receiver)).toMatchObject({ status: 200 })
        await hangUp(receiver)
      }
      expect(resumed).toEqual([false, true, true, true])
      expect(await post(sender, receiver, { organizationId: 'two' })).toMatchObject({ status: 200 })
      await hangUp(receiver)
      expect(await post(sender, receiver, { host: '127.0.0.1' })).toMatchObject({ status: 200 })
      expect(resumed.slice(4)).toEqual([false, false])
    },
  )

  test('another server at the same place has to show a certificate of its own', async () => {
    const sender = bench.sender()
    const first = await bench.receiver()
    const { port } = first
    expect(await post(sender, first)).toMatchObject({ status: 200 })
    await hangUp(first)
    await first.close()
    const stranger = await bench.receiver({ port, ...createAuthority('A stranger').issue(['localhost']) })
    expect(await post(sender, stranger)).toMatchObject({ kind: 'failed', code: 'tls_error' })
    expect(stranger.requests).toEqual([])
    await stranger.close()
    const another = await bench.receiver({ port, ...authority.issue(['localhost']) })
    const resumed = watch(another)
    expect(await post(sender, another)).toMatchObject({ status: 200 })
    await hangUp(another)
    expect(await post(sender, another)).toMatchObject({ status: 200 })
    expect(resumed).toEqual([false, true])
  })

  test('what was not verified leaves no session', async () => {
    const [sender, receiver] = [bench.sender({ targetCa: null }), await bench.receiver()]
    const resumed = watch(receiver)
    for (let round = 0; round < 3; round++) {
      expect(await post(sender, receiver)).toMatchObject({ code: 'tls_error' })
      await eventually('its connections are closed', () => receiver.open === 0)
    }
    expect(resumed).not.toContain(true)
  })
})

describe('how long a session lasts', () => {
  const bytes = (text: string) => Buffer.from(text)

  test('since its certificate was verified, however many have followed from it', () => {
    let now = 0
    const sessions = new TlsSessions({ most: 10, lasts: 1_000 }, () => now)
    sessions.keep('a', bytes('first'), null)
    for (now = 0; now < 1_000; now += 100) {
      const session = sessions.of('a')
      expect(session?.verifiedAt).toBe(0)
      sessions.keep('a', bytes(`at ${now}`), session)
    }
    expect(now).toBe(1_000)
    expect(sessions.of('a')).toBeNull()
    sessions.keep('a', bytes('verified again'), null)
    expect(sessions.of('a')).toEqual({ bytes: bytes('verified again'), verifiedAt: 1_000 })
  })

  test('until it is forgotten, or others have come that are too many', () => {
    const sessions = new TlsSessions({ most: 2, lasts: 1_000 }, () => 0)
    for (const pool of ['a', 'b', 'a', 'c']) sessions.keep(pool, bytes(pool), null)
    expect(['a', 'b', 'c'].map((pool) => sessions.of(pool)?.bytes.toString())).toEqual(['a', undefined, 'c'])
    sessions.forget('a')
    expect(sessions.of('a')).toBeNull()
  })
})
