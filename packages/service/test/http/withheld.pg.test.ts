/**
 * An answer that holds a token or a secret is given again only to a key that could ask for it now (specification 13.1):
 * keys are narrowed, and what they made is widened, between the first answer and its replay.
 */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { makeWebhook, receiverUrl } from '../../../testbed/hooks.ts'
import { asToken, makeKey } from '../../../testbed/keys.ts'
import type { Answer, Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const shared = sharedService()

interface Asked {
  readonly admin: Api
  readonly parent: Api & { readonly id: string }
  /** The same request again, under the same Idempotency-Key. */
  readonly again: () => Promise<Answer>
  readonly first: Answer
}

/** A key with these scopes asks for something once. */
async function asked(
  scopes: readonly string[],
  ask: (parent: Api, admin: Api) => Promise<(headers: Record<string, string>) => Promise<Answer>>,
): Promise<Asked> {
  const admin = await shared().newOrganization()
  const { id, token } = await makeKey(admin, { scopes })
  const parent = { ...asToken(shared(), admin, token), id }
  const send = await ask(parent, admin)
  const headers = { 'idempotency-key': randomUUID() }
  const again = () => send(headers)
  return { admin, parent, again, first: await again() }
}

async function narrow({ admin, parent }: Asked, scopes: readonly string[]): Promise<void> {
  expect((await admin.patch(`/v1/api-keys/${parent.id}`, { scopes })).status).toBe(200)
}

function expectGiven(answer: Answer, first: Answer): void {
  expect([answer.status, answer.text]).toEqual([first.status, first.text])
  expect(answer.headers.get('idempotent-replayed')).toBe('true')
}

function expectWithheld(answer: Answer, { first }: Asked, missing: string): void {
  expect([answer.status, answer.json.code]).toEqual([403, 'insufficient_scope'])
  expect(answer.json.detail).toContain(missing)
  const [once] = [first.json.token, first.json.secret].filter((value) => value !== undefined)
  expect(once).toBeTypeOf('string')
  expect(answer.text).not.toContain(once)
}

const managing = ['api_keys:manage', 'tickets:read']
const child = { name: 'Child', scopes: ['tickets:read'] }

describe('the token of a key', () => {
  const creation = () =>
    asked(managing, async (parent) => (headers) => parent.post('/v1/api-keys', child, headers))
  const rotation = () =>
    asked(managing, async (parent) => {
      const { id } = await makeKey(parent, child)
      return (headers) => parent.post(`/v1/api-keys/${id}/rotate`, undefined, headers)
    })

  test.each([
    ['made', creation],
    ['rotated', rotation],
  ])(
    'that was %s is not given to a parent that lost a scope of it, and is again when it has it',
    async (_how, ask) => {
      const it = await ask()
      expectGiven(await it.again(), it.first)
      await narrow(it, ['api_keys:manage'])
      expectWithheld(await it.again(), it, 'tickets:read')
      await narrow(it, managing)
      expectGiven(await it.again(), it.first)
    },
  )

  test.each([
    ['made', creation],
    ['rotated', rotation],
  ])('that was %s is not given any more once the key may do more than its parent', async (_how, ask) => {
    const it = await ask()
    await it.admin.patch(`/v1/api-keys/${it.first.json.id}`, { scopes: ['*'] })
    expectWithheld(await it.again(), it, '*')
    await it.admin.patch(`/v1/api-keys/${it.first.json.id}`, { scopes: child.scopes })
    expectGiven(await it.again(), it.first)
  })

  test('that was made with more than its parent holds now is refused, though the key was narrowed itself', async () => {
    const it = await creation()
    await it.admin.patch(`/v1/api-keys/${it.first.json.id}`, { scopes: [] })
    await narrow(it, ['api_keys:manage'])
    expectWithheld(await it.again(), it, 'tickets:read')
  })
})

const hooking = ['webhooks:write', 'customers:read', 'tickets:read']
const events = ['customer.created', 'ticket.created']

describe('the secret of an endpoint', () => {
  const creation = () =>
    asked(
      hooking,
      async (parent) => (headers) => parent.post('/v1/webhooks', { url: receiverUrl, events }, headers),
    )
  const rotation = () =>
    asked(hooking, async (parent, admin) => {
      const { id } = await makeWebhook(admin, { events })
      return (headers) => parent.post(`/v1/webhooks/${id}/rotate-secret`, undefined, headers)
    })

  test.each([
    ['made', creation],
    ['rotated', rotation],
  ])(
    'that was %s is not given to a key that may not read a subject any more, and is again when it may',
    async (_how, ask) => {
      const it = await ask()
      expectGiven(await it.again(), it.first)
      await narrow(it, ['webhooks:write', 'customers:read'])
      expectWithheld(await it.again(), it, 'tickets:read')
      await narrow(it, hooking)
      expectGiven(await it.again(), it.first)
    },
  )

  test.each([
    ['made', creation],
    ['rotated', rotation],
  ])('that was %s is not given once the endpoint is sent what the key may not read', async (_how, ask) => {
    const it = await ask()
    const path = `/v1/webhooks/${it.first.json.id}`
    await it.admin.patch(path, { events: [...events, 'booking.created'] })
    expectWithheld(await it.again(), it, 'bookings:read')
    await it.admin.patch(path, { events })
    expectGiven(await it.again(), it.first)
  })
})

test('twins that come at once after the key was narrowed are told alike, and make nothing', async () => {
  const it = await asked(managing, async (parent) => (headers) => parent.post('/v1/api-keys', child, headers))
  await narrow(it, ['api_keys:manage'])
  const twins = await Promise.all([it.again(), it.again(), it.again()])
  for (const twin of twins) expectWithheld(twin, it, 'tickets:read')
  expect((await it.admin.get('/v1/api-keys')).json.pagination.total).toBe(3)
})
