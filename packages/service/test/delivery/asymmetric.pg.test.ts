/** The asymmetric signature, verified with the published keys: by the SDK, and by node:crypto as in a guide. */
import { verifyAsymmetric, verifySignature } from '@deskwire/sdk'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { isSigned } from '../../../../docs/guides/receivers/asymmetric.ts'
import { createAuthority } from '../../../testbed/certificates.ts'
import { testClock } from '../../../testbed/clock.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { makeWebhook, receiverUrl } from '../../../testbed/hooks.ts'
import { startReceiver } from '../../../testbed/receiver.ts'
import { runDue } from '../../../testbed/run-due.ts'
import { testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import type { PublicKey } from '../../src/delivery/endpoint/signing-keys-route.ts'
import type { EncryptionKeys } from '../../src/delivery/endpoint/vault.ts'
import { kinds } from '../../src/desk/index.ts'
import { noNetworks, parseNetworks } from '../../src/kernel/networks.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { createWorker } from '../../src/roles/worker.ts'

const clock = testClock()
const shared = sharedService({ clock })
const path = '/.well-known/jwks.json'
const all = ['service', 'standard', 'v1a']

async function publicKeys(url: string, organizationId: string): Promise<PublicKey[]> {
  const response = await fetch(`${url}${path}?organizationId=${organizationId}`)
  expect(response.status).toBe(200)
  return ((await response.json()) as { keys: PublicKey[] }).keys
}

/** What a new endpoint is sent by a worker with these encryption keys. */
async function ping(signatures: readonly string[], encryptionKeys?: EncryptionKeys) {
  const api = await shared().newOrganization()
  const webhook = await makeWebhook(api, { signatures })
  await api.post(`/v1/webhooks/${webhook.id}/ping`, undefined)
  const { engine, sent } = testEngine(shared(), clock, encryptionKeys === undefined ? {} : { encryptionKeys })
  await engine.runDue()
  const { body, headers, at } = sent.findLast(
    (one) => JSON.parse(one.body).organizationId === api.organizationId,
  )!
  return { api, body: Buffer.from(body), headers, now: at / 1_000, secret: webhook.secret as string }
}

describe('over TLS', () => {
  test('a delivery verifies with the published key, and with the library of Standard Webhooks', async () => {
    const authority = createAuthority()
    await using receiver = await startReceiver({ ...authority.issue(['127.0.0.1']), host: '127.0.0.1' })
    const trustedTargets = parseNetworks('127.0.0.1/32') ?? noNetworks
    const settings = { ...deliverySettings, trustedTargets, targetCa: authority.ca }
    await using service = await testService({ settings })
    const { api, app, database } = service
    const { pool } = database
    const worker = createWorker({ pool, clock: systemClock, log: app.server.log, kinds, settings })
    const url = `https://127.0.0.1:${receiver.port}/`
    const { secret } = await makeWebhook(api, { url, events: ['customer.created'], signatures: all })
    const made = await api.post('/v1/customers', { name: 'Zoë ☕' })
    try {
      await runDue(worker.engine)
      const [request] = receiver.requests
      const { body, headers } = request!
      const keys = await publicKeys(service.url, api.organizationId)
      expect(keys).toHaveLength(1)
      expect(isSigned(body, headers, keys)).toBe(true)
      expect(new Webhook(secret).verify(body.toString(), headers)).toMatchObject({ data: made.json })
      for (const scheme of ['service', 'standard'] as const)
        await verifySignature(body, headers, secret, { scheme })
      expect(await verifyAsymmetric(body, headers, keys)).toMatchObject({ data: made.json })
      const other = await service.newOrganization()
      const othersKeys = await publicKeys(service.url, other.organizationId)
      expect(isSigned(body, headers, othersKeys)).toBe(false)
      const refused = (of: ReturnType<typeof verifyAsymmetric>) =>
        of.then(
          () => null,
          ({ code }) => code,
        )
      const changed = body.toString().replace('☕', '☎')
      const later = { now: Number(headers['webhook-timestamp']) + 301 }
      expect(await refused(verifyAsymmetric(body, headers, othersKeys))).toBe('signature_mismatch')
      expect(await refused(verifyAsymmetric(changed, headers, keys))).toBe('signature_mismatch')
      expect(await refused(verifyAsymmetric(body, headers, keys, later))).toBe('timestamp_expired')
    } finally {
      await worker.close()
    }
  })
})

describe('the signature', () => {
  test('covers id, time and body', async () => {
    const { api, body, headers, now } = await ping(all)
    const keys = await publicKeys(shared().url, api.organizationId)
    expect(isSigned(body, headers, keys, now)).toBe(true)
    expect(isSigned(Buffer.concat([body, Buffer.from(' ')]), headers, keys, now)).toBe(false)
    expect(isSigned(body, { ...headers, 'webhook-id': 'e' }, keys, now)).toBe(false)
    const timestamp = String(Number(headers['webhook-timestamp']) + 1)
    expect(isSigned(body, { ...headers, 'webhook-timestamp': timestamp }, keys, now)).toBe(false)
  })

  test('is not sent unless it is chosen', async () => {
    const { headers } = await ping(['service', 'standard'])
    expect(headers['webhook-signature']).toMatch(/^v1,\S+$/)
  })

  test('is shown, changed and removed with the others', async () => {
    const api = await shared().newOrganization()
    const { id } = await makeWebhook(api, { signatures: ['v1a', 'service', 'standard'] })
    const read = async () => (await api.get(`/v1/webhooks/${id}`)).json.signatures
    expect(await read()).toEqual(all)
    await api.patch(`/v1/webhooks/${id}`, { signatures: ['service'] })
    expect(await read()).toEqual(['service'])
  })

  test.each([[['service', 'v1a']], [['standard', 'v1a']], [['v1a']]])('%j is refused', async (signatures) => {
    const body = { url: receiverUrl, events: ['customer.created'], signatures }
    const { status, json } = await shared().api.post('/v1/webhooks', body)
    expect([status, json.errors[0].pointer, json.errors[0].code]).toEqual([
      422,
      '/signatures',
      'invalid_value',
    ])
  })
})

describe('while one encryption key replaces another', () => {
  const old = deliverySettings.encryptionKey
  const both = { current: Buffer.alloc(32, 9), previous: old }

  test('both keys are published and sign, so that receivers who know one of them verify', async () => {
    const settings = {
      ...deliverySettings,
      encryptionKey: both.current,
      encryptionKeyPrevious: both.previous,
    }
    await using rotating = await testService({ settings, database: shared().database })
    const { api, body, headers, now } = await ping(all, both)
    const before = await publicKeys(shared().url, api.organizationId)
    const during = await publicKeys(rotating.url, api.organizationId)
    expect(during.map(({ kid }) => kid)).toEqual([expect.not.stringMatching(before[0]!.kid), before[0]!.kid])
    for (const key of during) {
      expect(isSigned(body, headers, [key], now)).toBe(true)
      await verifyAsymmetric(body, headers, [key], { now })
    }
    const ahead = await ping(all)
    const known = await publicKeys(rotating.url, ahead.api.organizationId)
    expect(known.map((key) => isSigned(ahead.body, ahead.headers, [key], ahead.now))).toEqual([false, true])
  })
})

describe('the key set', () => {
  test('needs no key, and holds no private part', async () => {
    const [key] = await publicKeys(shared().url, shared().api.organizationId)
    expect(key).toEqual({
      kty: 'OKP',
      crv: 'Ed25519',
      x: expect.stringMatching(/^[\w-]{43}$/),
      kid: expect.stringMatching(/^[\w-]{43}$/),
      use: 'sig',
      alg: 'EdDSA',
    })
  })

  test.each(['', '?organizationId=mine', '?organization=mine'])('%s is refused', async (query) => {
    const response = await fetch(`${shared().url}${path}${query}`)
    const { code } = (await response.json()) as { code: string }
    expect([response.status, code]).toEqual([400, 'invalid_parameter'])
  })
})
