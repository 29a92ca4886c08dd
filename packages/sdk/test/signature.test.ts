import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, expectTypeOf, test, vi } from 'vitest'
import { verdictOf } from '../../testbed/verdict.ts'
import * as sdk from '../src/index.ts'
import {
  type RawBody,
  type Rejection,
  type Secrets,
  SignatureError,
  signStandardWebhook,
  signWebhook,
  type Ticket,
  type VerifyOptions,
  verify,
} from '../src/index.ts'
import { type Hmac, signatureHeader } from '../src/signature.ts'
import { hmac, makeVectors, type Vector, vectorFile } from './signature-vectors.ts'

/** With the header alone, as a value. */
const verifySignature = (
  body: RawBody,
  header: string | readonly string[] | null,
  secrets: Secrets,
  options?: VerifyOptions,
) => verdictOf(sdk.verifySignature(body, { 'x-service-signature': header ?? undefined }, secrets, options))

const published = new URL('../vectors/signature.json', import.meta.url)
const vectors: Vector[] = JSON.parse(readFileSync(published, 'utf8'))

/** The rules of specification 10.2 a second time, on node:crypto. */
const reference = ({ header, secrets, body, now, tolerance }: Vector): 'accept' | 'reject' => {
  const pairs = (header ?? '').split(',').map((entry) => [...entry.split(/=(.*)/s), ''] as const)
  const times = pairs.filter(([name]) => name === 't').map(([, value]) => value)
  if (times.length !== 1 || !/^[0-9]{1,15}$/.test(times[0] ?? '')) return 'reject'
  if (Math.abs(now - Number(times[0])) > tolerance) return 'reject'
  const content = Buffer.concat([Buffer.from(`${times[0]}.`), Buffer.from(body, 'base64')])
  const matches = pairs
    .filter(([name]) => name === 'v1')
    .flatMap(([, value]) => secrets.map((secret) => [value, secret] as const))
    .some(([value, secret]) => {
      const given = Buffer.from(value ?? '')
      const right = Buffer.from(createHmac('sha256', secret).update(content).digest('hex'))
      return given.length === right.length && timingSafeEqual(given, right)
    })
  return matches ? 'accept' : 'reject'
}

test('the published vectors are the ones made here (vitest -u writes them)', async () => {
  expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length)
  expect(makeVectors().filter(({ expected }) => expected === 'accept').length).toBeGreaterThan(10)
  await expect(vectorFile(makeVectors())).toMatchFileSnapshot('../vectors/signature.json')
})

describe.each(vectors)('published vector: $name', (vector) => {
  const { header, secrets, now, tolerance, expected, reason } = vector
  const body = Buffer.from(vector.body, 'base64')

  test('the SDK agrees, and says why', async () => {
    const verdict = await verifySignature(body, header, secrets, { now, tolerance })
    expect(verdict).toEqual(
      expected === 'accept' ? { ok: true } : { ok: false, reason, detail: expect.stringMatching(/\.$/) },
    )
  })

  test('so does node:crypto', () => {
    expect(reference(vector)).toBe(expected)
  })
})

const secret = 'whsec_x'
const json = fc.json().map((text) => new TextEncoder().encode(text))
const bodies = fc.oneof(fc.uint8Array({ maxLength: 200 }), json)
const secretLists = fc.array(
  fc.string({ minLength: 1 }).map((text) => `whsec_${text}`),
  { minLength: 1, maxLength: 3 },
)
const times = fc.integer({ min: 0, max: 999_999_999_999_999 })

test('what is signed verifies, with any of its secrets', async () => {
  await fc.assert(
    fc.asyncProperty(bodies, secretLists, times, async (body, secrets, timestamp) => {
      const header = await signWebhook(body, secrets, { timestamp })
      for (const one of secrets) {
        expect(await verifySignature(body, header, one, { now: timestamp })).toEqual({ ok: true })
      }
      const signatures = secrets.map((one) => `,v1=${hmac(one, timestamp, body)}`)
      expect(header).toBe(`t=${timestamp}${signatures.join('')}`)
    }),
  )
})

test('any flipped bit is refused, in the body and in the header', async () => {
  const whole = fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 50 }), times, fc.nat())
  await fc.assert(
    fc.asyncProperty(whole, async ([body, timestamp, bit]) => {
      const header = new TextEncoder().encode(await signWebhook(body, secret, { timestamp }))
      const flip = (bytes: Uint8Array) => {
        const at = bit % (bytes.length * 8)
        return bytes.map((byte, n) => (n === at >> 3 ? byte ^ (1 << (at & 7)) : byte))
      }
      const now = { now: timestamp, tolerance: Infinity }
      const altered = new TextDecoder('latin1').decode(flip(header))
      expect((await verifySignature(flip(body), new TextDecoder().decode(header), secret, now)).ok).toBe(
        false,
      )
      expect((await verifySignature(body, altered, secret, now)).ok).toBe(false)
    }),
  )
})

test('a comparison looks at every character, wherever the first difference is', async () => {
  const right = await signWebhook('x', secret, { timestamp: 1 })
  const start = 't=1,v1='.length
  const alteredAt = (at: number) => right.slice(0, at) + (right[at] === '0' ? '1' : '0') + right.slice(at + 1)
  const looksAt = async (header: string) => {
    const looks = vi.spyOn(String.prototype, 'charCodeAt')
    try {
      await verifySignature('x', header, secret, { now: 1 })
      return looks.mock.calls.length
    } finally {
      looks.mockRestore()
    }
  }
  const needed = await looksAt(right)
  expect(needed).toBeGreaterThanOrEqual(64)
  for (const at of [start, start + 31, start + 63]) expect(await looksAt(alteredAt(at))).toBe(needed)
})

test('primitives of the caller make the same header, without a promise', async () => {
  const hmacs = ['whsec_a', 'whsec_b'].map(
    (key): Hmac =>
      (prefix, body) =>
        createHmac('sha256', key).update(prefix).update(body).digest('hex'),
  )
  await fc.assert(
    fc.asyncProperty(bodies, times, async (body, timestamp) => {
      const header = signatureHeader(timestamp, body, hmacs)
      expect(header).toBe(await signWebhook(body, ['whsec_a', 'whsec_b'], { timestamp }))
    }),
  )
})

test('text, bytes and a buffer are the same body', async () => {
  const text = '{"subject":"Zoë ☕"}'
  const bytes = new TextEncoder().encode(text)
  const header = await signWebhook(text, secret)
  for (const body of [text, bytes, bytes.buffer, Buffer.from(text), Buffer.from(`-${text}`).subarray(1)]) {
    expect(await verifySignature(body, header, secret)).toEqual({ ok: true })
  }
})

test('a header that came as a list is read as one', async () => {
  const header = await signWebhook('x', secret)
  expect(await verifySignature('x', header.split(','), secret)).toEqual({ ok: true })
  const twice = await verifySignature('x', [header, header], secret)
  expect(twice).toMatchObject({ reason: 'malformed_header' satisfies Rejection })
})

test('now is the clock, in seconds, unless told', async () => {
  const seconds = Math.floor(Date.now() / 1000)
  for (const [offset, expected] of [
    [0, true],
    [-290, true],
    [290, true],
    [-310, false],
    [310, false],
  ] as const) {
    const header = await signWebhook('x', secret, { timestamp: seconds + offset })
    expect((await verifySignature('x', header, secret)).ok).toBe(expected)
  }
  expect(Number(/^t=(\d+)/.exec(await signWebhook('x', secret))?.[1]) - seconds).toBeLessThanOrEqual(5)
})

test('a clock or a tolerance that is not a number refuses', async () => {
  const header = await signWebhook('x', secret)
  expect((await verifySignature('x', header, secret, { tolerance: Number.NaN })).ok).toBe(false)
  expect((await verifySignature('x', header, secret, { now: Number.NaN })).ok).toBe(false)
})

const envelope = {
  id: '019c1234-0000-7000-8000-000000000001',
  type: 'ticket.created',
  apiVersion: 'v1',
  createdAt: '2026-01-31T09:30:00.000Z',
  organizationId: '019c1234-0000-7000-8000-000000000000',
  data: { object: 'ticket', subject: 'The engine halts' },
}

describe('verify', () => {
  const signedVerdict = async (body: string) =>
    verdictOf(verify(body, { 'x-service-signature': await signWebhook(body, secret) }, secret))

  test('gives the event, and its type gives the type of its data', async () => {
    const verdict = await signedVerdict(JSON.stringify(envelope))
    if (!verdict.ok || verdict.event.type !== 'ticket.created') return expect.unreachable()
    expect(verdict.event).toEqual(envelope)
    expectTypeOf(verdict.event.data).toEqualTypeOf<Ticket>()
  })

  test('lets a type through that it does not know yet, and members it does not know', async () => {
    const later = { ...envelope, type: 'invoice.paid', livemode: true }
    expect(await signedVerdict(JSON.stringify(later))).toEqual({ ok: true, event: later })
  })

  test.each([
    ['', 'nothing'],
    ['not JSON', 'no JSON'],
    ['null', 'null'],
    ['[]', 'a list'],
    ['{}', 'no envelope'],
    [JSON.stringify({ ...envelope, id: 5 }), 'an id that is no text'],
    [JSON.stringify({ ...envelope, data: null }), 'no data'],
    [JSON.stringify({ ...envelope, data: [] }), 'a list for data'],
  ])('refuses what is signed but no event: %s', async (body) => {
    expect(await signedVerdict(body)).toMatchObject({ ok: false, reason: 'not_an_event' satisfies Rejection })
  })

  test('does not look into a body whose signature is wrong', async () => {
    const headers = { 'x-service-signature': await signWebhook('other', secret) }
    expect(await verdictOf(verify('not JSON', headers, secret))).toMatchObject({
      reason: 'signature_mismatch' satisfies Rejection,
    })
  })

  test('throws what to respond with, and reads either signature, whatever the case of its headers', async () => {
    const refused = verify('{}', {}, secret)
    await expect(refused).rejects.toBeInstanceOf(SignatureError)
    await expect(refused).rejects.toMatchObject({
      name: 'SignatureError',
      status: 400,
      code: 'missing_header',
    })
    const standard = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
    const body = JSON.stringify(envelope)
    const ours = { 'X-Service-Signature': await signWebhook(body, standard) }
    const theirs = await signStandardWebhook('e', body, standard)
    for (const headers of [ours, theirs, new Headers(ours), new Headers(theirs), { ...ours, ...theirs }])
      expect(await verify(body, headers, ['whsec_YQ==', standard])).toEqual(envelope)
    // Where ours is there it decides, and a scheme can be asked for.
    const altered = { 'X-Service-Signature': 't=1,v1=0', ...theirs }
    await expect(verify(body, altered, standard)).rejects.toThrow(SignatureError)
    expect(await verify(body, altered, standard, { scheme: 'standard' })).toEqual(envelope)
  })
})

describe('what no sender can cause is thrown', () => {
  const unset: string = JSON.parse('""')
  const parsedBody: string = JSON.parse('{"id":"1"}')

  test.each([
    ['an empty secret', unset],
    ['no secret', []],
    ['one of several empty', [secret, unset]],
  ])('%s, also when the header was made with it', async (_, secrets) => {
    const header = `t=1,v1=${hmac('', 1, 'x')}`
    await expect(verify('x', { 'x-service-signature': header }, secrets, { now: 1 })).rejects.toThrow(
      /signing secret/,
    )
    await expect(signWebhook('x', secrets)).rejects.toThrow(TypeError)
  })

  test('a body that was parsed already', async () => {
    await expect(verify(parsedBody, {}, secret)).rejects.toThrow(/raw bytes/)
  })

  test.each([1.5, -1, Number.NaN, 1e15, 1e21])(
    'a timestamp that nobody would read: %d',
    async (timestamp) => {
      await expect(signWebhook('x', secret, { timestamp })).rejects.toThrow(/whole unix seconds/)
    },
  )
})
