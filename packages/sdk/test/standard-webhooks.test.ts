/** Standard Webhooks, by the published vectors, by node:crypto and by the package `standardwebhooks`, which is not ours. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { verdictOf } from '../../testbed/verdict.ts'
import {
  type RawBody,
  type Rejection,
  type RequestHeaders,
  type Secrets,
  signStandardWebhook,
  type VerifyOptions,
  verify,
  verifySignature,
} from '../src/index.ts'
import { standardHeaders } from '../src/signature.ts'
import { testDelivery } from '../src/testing.ts'
import { vectorFile } from './signature-vectors.ts'
import { makeStandardVectors, type StandardVector, standardHmac } from './standard-vectors.ts'

const scheme = 'standard'

const verifyStandardSignature = (
  body: RawBody,
  headers: RequestHeaders,
  secrets: Secrets,
  options?: VerifyOptions,
) => verdictOf(verifySignature(body, headers, secrets, { ...options, scheme }))

const verifyStandardWebhook = (body: RawBody, headers: RequestHeaders, secrets: Secrets) =>
  verdictOf(verify(body, headers, secrets, { scheme }))

const published = new URL('../vectors/standard-webhooks.json', import.meta.url)
const vectors: StandardVector[] = JSON.parse(readFileSync(published, 'utf8'))

afterEach(() => void vi.useRealTimers())

test('the published vectors are the ones made here (vitest -u writes them)', async () => {
  expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length)
  expect(vectors.filter(({ expected }) => expected === 'accept').length).toBeGreaterThan(10)
  await expect(vectorFile(makeStandardVectors())).toMatchFileSnapshot('../vectors/standard-webhooks.json')
})

/** Where the package's rules are others, and why. */
const differences: Record<string, string> = {
  'valid, binary body': 'it decodes the body as UTF-8 before hashing',
  'a wider tolerance': 'its tolerance is fixed',
  'tolerance 0 is no switch': 'its tolerance is fixed',
  'a leading zero that was not signed': 'it signs over the number, not over the text',
}

/** The package takes one secret, and tells the time by the clock of the machine. */
const itAccepts = ({ secrets, headers, body, now }: StandardVector): boolean => {
  vi.setSystemTime(now * 1000)
  return secrets.some((secret) => {
    try {
      new Webhook(secret).verify(Buffer.from(body, 'base64'), headers, { jsonParse: false })
      return true
    } catch {
      return false
    }
  })
}

describe.each(vectors)('published vector: $name', (vector) => {
  const { name, headers, secrets, now, tolerance, expected, reason } = vector
  const body = Buffer.from(vector.body, 'base64')

  test('the SDK agrees, and says why', async () => {
    const verdict = await verifyStandardSignature(body, headers, secrets, { now, tolerance })
    expect(verdict).toEqual(
      expected === 'accept' ? { ok: true } : { ok: false, reason, detail: expect.stringMatching(/\.$/) },
    )
  })

  test(`so does standardwebhooks${differences[name] === undefined ? '' : `, but: ${differences[name]}`}`, () => {
    expect(itAccepts(vector)).toBe((expected === 'accept') === (differences[name] === undefined))
  })
})

test('every difference is about a vector that exists', () => {
  expect(vectors.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(differences)))
})

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const other = `whsec_${Buffer.alloc(32, 2).toString('base64')}`
const bodies = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.json())
const times = fc.integer({ min: 0, max: 999_999_999_999_999 })
const secretLists = fc.array(
  fc.uint8Array({ minLength: 1, maxLength: 70 }).map((key) => `whsec_${Buffer.from(key).toString('base64')}`),
  { minLength: 1, maxLength: 3 },
)

test('what is signed verifies, with any of its secrets, and is what node:crypto makes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uuid(), bodies, secretLists, times, async (id, body, secrets, timestamp) => {
      const headers = await signStandardWebhook(id, body, secrets, { timestamp })
      const signatures = secrets.map((one) => standardHmac(one, { id, timestamp, body }))
      expect(headers).toEqual({
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatures.map((signature) => `v1,${signature}`).join(' '),
      })
      for (const one of secrets) {
        expect(await verifyStandardSignature(body, headers, one, { now: timestamp })).toEqual({ ok: true })
      }
      let n = 0
      expect(
        standardHeaders(
          id,
          timestamp,
          body,
          Array(signatures.length).fill(() => signatures[n++]),
        ),
      ).toEqual(headers)
    }),
  )
})

test('any flipped bit is refused, in the body and in each header', async () => {
  const whole = fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 50 }), fc.uuid(), times, fc.nat())
  await fc.assert(
    fc.asyncProperty(whole, async ([body, id, timestamp, bit]) => {
      const flip = (bytes: Uint8Array) => {
        const at = bit % (bytes.length * 8)
        return bytes.map((byte, n) => (n === at >> 3 ? byte ^ (1 << (at & 7)) : byte))
      }
      const headers: Record<string, string> = {
        ...(await signStandardWebhook(id, body, secret, { timestamp })),
      }
      const now = { now: timestamp, tolerance: Infinity }
      expect((await verifyStandardSignature(flip(body), headers, secret, now)).ok).toBe(false)
      for (const [name, value] of Object.entries(headers)) {
        const altered = Buffer.from(flip(Buffer.from(value, 'latin1'))).toString('latin1')
        const given = { ...headers, [name]: altered }
        expect((await verifyStandardSignature(body, given, secret, now)).ok, `${name}: ${altered}`).toBe(
          false,
        )
      }
    }),
  )
})

test('we sign as the package does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uuid(), fc.json(), async (id, body) => {
      const timestamp = 1_769_851_800
      const { 'webhook-signature': signature } = await signStandardWebhook(id, body, secret, { timestamp })
      expect(new Webhook(secret).sign(id, new Date(timestamp * 1000), body)).toBe(signature)
    }),
  )
})

describe('headers', () => {
  const signed = () => signStandardWebhook('e', 'x', secret)

  test('are taken from a Request, from Node, and from a gateway that writes them otherwise', async () => {
    const headers = await signed()
    const named = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value])
    for (const given of [
      new Headers({ ...headers }),
      { ...headers, host: 'example.com', cookie: undefined },
      Object.fromEntries(named),
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    ]) {
      expect(await verifyStandardSignature('x', given, secret)).toEqual({ ok: true })
    }
  })

  test('one that came twice is none', async () => {
    const headers = await signed()
    const twice = { ...headers, 'webhook-id': ['e', 'e'] }
    expect(await verifyStandardSignature('x', twice, secret)).toMatchObject({
      reason: 'signature_mismatch' satisfies Rejection,
    })
  })
})

describe('verify', () => {
  test('gives the event of a test delivery, which the other verifier accepts too', async () => {
    const event = { type: 'ticket.created', data: { subject: 'Zoë ☕' } } as const
    const delivery = await testDelivery(event, [other, secret], { signatures: ['service', 'standard'] })
    const verdict = await verifyStandardWebhook(delivery.body, new Headers(delivery.headers), secret)
    if (!verdict.ok || verdict.event.type !== 'ticket.created') return expect.unreachable()
    expect(verdict.event.data.subject).toBe('Zoë ☕')
    expect(verdict.event.id).toBe(delivery.headers['webhook-id'])
    expect(new Webhook(other).verify(delivery.body, delivery.headers)).toEqual(verdict.event)
    const plain = await testDelivery(event, secret)
    expect(Object.keys(plain.headers).filter((name) => name.startsWith('webhook-'))).toEqual([])
  })

  test('refuses what is signed but no event, and looks into nothing whose signature is wrong', async () => {
    const headers = await signStandardWebhook('e', 'not JSON', secret)
    expect(await verifyStandardWebhook('not JSON', headers, secret)).toMatchObject({ reason: 'not_an_event' })
    expect(await verifyStandardWebhook('not JSON', headers, other)).toMatchObject({
      reason: 'signature_mismatch',
    })
  })
})

describe('what no sender can cause is thrown', () => {
  test.each([
    ['an empty secret', ''],
    ['no secret', []],
    ['nothing behind whsec_', 'whsec_'],
    ['one in base64url, of an earlier release', `whsec_${Buffer.alloc(32, 255).toString('base64url')}`],
    ['one without its padding', secret.slice(0, -1)],
  ])('%s', async (_, secrets) => {
    const headers = { 'webhook-id': 'e', 'webhook-timestamp': '1', 'webhook-signature': 'v1,' }
    await expect(verifyStandardSignature('x', headers, secrets, { now: 1 })).rejects.toThrow(TypeError)
    await expect(signStandardWebhook('e', 'x', secrets)).rejects.toThrow(TypeError)
  })

  test('an empty id, and a time that nobody would read', async () => {
    await expect(signStandardWebhook('', 'x', secret)).rejects.toThrow(/id of the event/)
    await expect(signStandardWebhook('e', 'x', secret, { timestamp: 1.5 })).rejects.toThrow(/unix seconds/)
  })
})
