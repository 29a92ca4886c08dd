/**
 * What a key is told that may write a kind and not read it (specification 3.3): of every kind, on every route that
 * changes one, in every state. The routes are the server's own: one that nothing here knows how to ask fails.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeTeammate } from '../../../testbed/desk.ts'
import { asToken, makeKey } from '../../../testbed/keys.ts'
import type { Answer, Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { kinds } from '../../src/desk/index.ts'
import type { Kind } from '../../src/kinds/model/kind.ts'
import { booking } from '../transitions/booking.ts'
import { conversation } from '../transitions/conversation.ts'
import type { Machine, Stage } from '../transitions/machine.ts'
import { ticket } from '../transitions/ticket.ts'
import { type Desk, newObject, unchangedDesk } from './writable.fixture.ts'

const clock = testClock()
const shared = sharedService({ clock })
const once = (key: string) => ({ 'idempotency-key': key })

/** Every field of the objects here whose value a client could have sent. */
const secret = 'Geheimnis'

async function keyOf(api: Api, scopes: readonly string[]): Promise<Api & { id: string }> {
  const { id, token } = await makeKey(api, { scopes })
  return { ...asToken(shared(), api, token), id }
}

const narrow = async (api: Api, id: string, scopes: readonly string[]) =>
  expect((await api.patch(`/v1/api-keys/${id}`, { scopes })).status).toBe(200)

/** The answer is these three fields of the object as it stands, and says which version that is. */
async function expectWritten(api: Api, kind: Kind, answer: Answer, status: number): Promise<void> {
  const { id, updatedAt } = answer.json
  const object = await api.get(`/v1/${kind.plural}/${id}`)
  expect({ status: answer.status, text: answer.text }).toEqual({
    status,
    text: `{"id":"${id}","object":"${kind.name}","updatedAt":"${object.json.updatedAt}"}`,
  })
  expect(answer.headers.get('etag')).toBe(`"${updatedAt}"`)
  expect(answer.headers.get('etag')).toBe(object.headers.get('etag'))
  expect(answer.headers.get('location')).toBe(status === 201 ? `/v1/${kind.plural}/${id}` : null)
}

/** What `updatedAt` and `id` do not give away. */
function expectNothingTold({ text }: Answer): void {
  for (const word of [secret, 'organizationId', 'createdAt']) expect(text).not.toContain(word)
}

describe.each(kinds)('$plural', (kind) => {
  const path = `/v1/${kind.plural}`
  let api: Api
  let desk: Desk
  let writer: Api
  beforeAll(async () => {
    api = await shared().newOrganization()
    desk = await unchangedDesk(api, secret)
    writer = await keyOf(api, [`${kind.plural}:write`])
  })

  test('a creation answers id, object and updatedAt; with the read scope, all of it', async () => {
    const created = await writer.post(path, newObject(kind, desk, 'created'))
    await expectWritten(api, kind, created, 201)
    const both = await keyOf(api, [`${kind.plural}:write`, `${kind.plural}:read`])
    const whole = await both.post(path, newObject(kind, desk, 'whole'))
    expect(whole.text).toBe((await api.get(`${path}/${whole.json.id}`)).text)
    expect(whole.text).toContain(secret)
  })

  if (!kind.immutable)
    test('so does a change, also one that changes nothing', async () => {
      const { id } = (await api.post(path, newObject(kind, desk, 'patched'))).json
      await expectWritten(api, kind, await writer.patch(`${path}/${id}`, {}), 200)
      const name = ['name', 'body'].find((field) => kind.fields[field] !== undefined) as string
      const changed = kind.fields.tags === undefined ? { [name]: 'Other' } : { tags: ['other'] }
      await expectWritten(api, kind, await writer.patch(`${path}/${id}`, changed), 200)
      expect((await api.get(`${path}/${id}`)).json).toMatchObject(changed)
    })

  test('a replay is shaped by the scopes of now, whichever they were', async () => {
    const scopes = { less: [`${kind.plural}:write`], more: [`${kind.plural}:write`, `${kind.plural}:read`] }
    const key = await keyOf(api, scopes.more)
    const ask = () => key.post(path, newObject(kind, desk, 'replayed'), once('narrowed'))
    const whole = await ask()
    expect(whole.text).toContain(secret)
    await narrow(api, key.id, scopes.less)
    const told = await ask()
    expect(told.headers.get('idempotent-replayed')).toBe('true')
    await expectWritten(api, kind, told, 201)
    await narrow(api, key.id, scopes.more)
    expect((await ask()).text).toBe(whole.text)
  })

  test('a batch names ids and outcomes, and of what is refused no state and no value', async () => {
    const items = [newObject(kind, desk, 'a batch'), newObject(kind, desk, 'a batch')]
    const made = await writer.post(`${path}/batch`, { items })
    expect(made.status).toBe(200)
    for (const item of made.json.data) {
      const named = item.outcome === 'refused' ? ['problem'] : ['id']
      expect(Object.keys(item)).toEqual(['index', 'outcome', 'status', ...named])
    }
    expectNothingTold(made)
  })

  if (!kind.immutable && kind.fields.externalId !== undefined)
    test('so does an upsert of what is there', async () => {
      const object = newObject(kind, desk, 'upserted')
      await api.post(path, object)
      const upsert = { operation: 'upsert', items: [object] }
      const answer = await writer.post(`${path}/batch`, upsert)
      expect(answer.json.data).toEqual([
        { index: 0, outcome: 'unchanged', status: 200, id: expect.any(String) },
      ])
      expectNothingTold(answer)
    })

  test('a value that another object has is a duplicate, which names the field and not the object', async () => {
    for (const { field } of kind.table.unique) {
      const sent = newObject(kind, desk, `taken ${field}`)
      const { id } = (await api.post(path, { ...sent, tags: undefined })).json
      const refused = await writer.post(path, sent)
      expect([refused.status, refused.json.code]).toEqual([409, 'duplicate'])
      expect(refused.json.detail).toContain(`Another ${kind.name} has this `)
      const batch = await writer.post(`${path}/batch`, { items: [sent] })
      expect(batch.json.data[0].problem.code).toBe('duplicate')
      for (const { text } of [refused, batch]) expect(text).not.toContain(id)
      expect(refused.text).not.toContain(String(sent[field]))
      expectNothingTold(refused)
    }
  })

  test('a version that is not named is refused with the version, which every write of its answers', async () => {
    const { id, updatedAt } = (await api.post(path, newObject(kind, desk, 'conditional'))).json
    const last = '"2000-01-01T00:00:00.000Z"'
    const writes = [
      ...(kind.immutable ? [] : [() => writer.patch(`${path}/${id}`, {}, { 'if-match': last })]),
      ...(kind.removedEvent === null ? [] : [() => writer.delete(`${path}/${id}`, { 'if-match': last })]),
    ]
    for (const write of writes) {
      const refused = await write()
      expect([refused.status, refused.json.code]).toEqual([412, 'version_mismatch'])
      expect(refused.json.detail).toContain(updatedAt)
      expectNothingTold(refused)
    }
  })

  if (kind.removedEvent !== null)
    test('a deletion answers nothing', async () => {
      const { id } = (await api.post(path, newObject(kind, desk, 'deleted'))).json
      const { status, text, headers } = await writer.delete(`${path}/${id}`)
      expect({ status, text, etag: headers.get('etag') }).toEqual({ status: 204, text: '', etag: null })
    })
})

const machines: readonly Machine[] = [ticket, conversation, booking]
/** Moves that a message of the conversation makes: no write of the kind itself. */
const byMessage = new Set(['inbound', 'outbound'])

describe.each(machines)('moves of $plural', ({ plural, states, moves, table }) => {
  const kind = kinds.find((one) => one.plural === plural) as Kind
  const all = Object.entries(table).flatMap(([state, row]) =>
    Object.entries(row).flatMap(([move, cell]) =>
      byMessage.has(move) ? [] : [{ state, move, refused: typeof cell === 'string' ? '' : cell.refused }],
    ),
  )
  // The answer is shaped by the move and by how it ends, whatever the state was: one state for each.
  const cells = [...new Map(all.map((cell) => [`${cell.move} ${cell.refused}`, cell])).values()]
  let stage: Stage
  let writing: Stage

  beforeAll(async () => {
    const api = await shared().newOrganization()
    stage = { api, teammateId: (await makeTeammate(api)).id, advance: clock.advance }
    writing = { ...stage, api: await keyOf(api, [`${plural}:write`]) }
  })

  test('every action is among them', () => {
    expect(Object.keys(moves)).toEqual(expect.arrayContaining(Object.keys(kind.actions)))
  })

  test.each(cells.filter(({ refused }) => refused === ''))(
    '$state: $move is answered in three fields',
    async (cell) => {
      const id = await states[cell.state]!(stage)
      const answer = await moves[cell.move]!(writing, id)
      // A move that is no write of this kind (a message that arrives) is none of this key's.
      if (answer.status === 403) return
      if (answer.status === 204) return expect(answer.text).toBe('')
      await expectWritten(stage.api, kind, answer, 200)
    },
  )

  test.each(cells.filter(({ refused }) => refused !== ''))(
    '$state: $move is refused, and names no state',
    async (cell) => {
      const id = await states[cell.state]!(stage)
      const answer = await moves[cell.move]!(writing, id)
      expect(answer.status).toBe(409)
      expect(answer.json).toEqual({
        type: '/docs/errors/invalid_transition',
        title: 'The state does not allow this move',
        status: 409,
        code: 'invalid_transition',
        detail: `The ${kind.name} does not allow this in its current state. A key with ${plural}:read gets its state, and the allowed actions.`,
        requestId: answer.headers.get('x-request-id'),
      })
    },
  )
})

test('a move that an item of a batch asks for names no state either, in the stored response too', async () => {
  const api = await shared().newOrganization()
  const { id } = (await api.post('/v1/customers', { name: secret })).json
  const item = { externalId: 'closed', customerId: id, subject: secret, status: 'closed' }
  await api.post('/v1/tickets', item)
  const key = await keyOf(api, ['tickets:write', 'tickets:read'])
  const batch = {
    operation: 'upsert',
    items: [
      { ...item, description: 'other' },
      { ...item, externalId: 'new' },
    ],
  }
  const ask = () => key.post('/v1/tickets/batch', batch, once('closed'))
  const whole = await ask()
  expect(whole.json.data[0].problem).toMatchObject({
    code: 'ticket_closed',
    detail: expect.stringContaining('closed'),
  })
  await narrow(api, key.id, ['tickets:write'])
  const told = await ask()
  expect(told.headers.get('idempotent-replayed')).toBe('true')
  expect(told.json.data[0].problem).toEqual({
    code: 'invalid_transition',
    title: 'The state does not allow this move',
    detail: expect.stringContaining('tickets:read'),
  })
  expect(told.text).not.toContain('closed')
  expect(told.json.data[1]).toEqual(whole.json.data[1])
  await narrow(api, key.id, ['tickets:write', 'tickets:read'])
  expect((await ask()).text).toBe(whole.text)
})

test('every route that changes an object of a kind is among those asked here', () => {
  const asked = kinds.flatMap(({ plural, actions, immutable, removedEvent, isPerson }) => [
    `POST /v1/${plural}`,
    `POST /v1/${plural}/batch`,
    ...Object.keys(actions).map((action) => `POST /v1/${plural}/:id/${action}`),
    ...(immutable ? [] : [`PATCH /v1/${plural}/:id`]),
    ...(removedEvent === null ? [] : [`DELETE /v1/${plural}/:id`]),
    // Its receipt shows no object.
    ...(isPerson ? [`POST /v1/${plural}/:id/erase`] : []),
  ])
  const changing = [...shared().app.routes].flatMap(([url, methods]) =>
    kinds.some(({ plural }) => url.split('/')[2] === plural)
      ? [...methods].filter((method) => !['GET', 'HEAD'].includes(method)).map((method) => `${method} ${url}`)
      : [],
  )
  expect(changing.sort()).toEqual(asked.sort())
})
