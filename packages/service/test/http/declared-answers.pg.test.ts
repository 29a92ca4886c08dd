/** What every kind's routes declare and its rules have no part in: 304, 410, 412, and 409 for a value that another has. */
import { describe, expect, test } from 'vitest'
import { sharedService } from '../../../testbed/shared-service.ts'
import { kinds } from '../../src/desk/index.ts'
import { decodeCursor, encodeCursor } from '../../src/kernel/cursor.ts'
import { exampleInput } from '../../src/kinds/docs/kind-schemas.ts'
import { newObject, unchangedDesk } from './writable.fixture.ts'

const shared = sharedService()
const other = { 'if-match': '"2000-01-01T00:00:00.000Z"' }

describe.each(kinds)('$plural', (kind) => {
  const path = `/v1/${kind.plural}`
  const exampleOf = async (unique: string) => {
    const { api } = shared()
    const body = newObject(kind, await unchangedDesk(api, 'Desk'), `${kind.name}-${unique}`)
    const { status, json } = await api.post(path, body)
    expect(status).toBe(201)
    return { api, body, id: json.id as string }
  }

  test('an object that has not changed is not sent again', async () => {
    const { api, id } = await exampleOf('same')
    const etag = (await api.get(`${path}/${id}`)).headers.get('etag') ?? ''
    const again = await api.get(`${path}/${id}`, { 'if-none-match': etag })
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
  })

  test('a cursor from before a restore is told apart from one that is none', async () => {
    const { api } = shared()
    const { nextCursor } = (await api.get(`${path}?updatedAfter=1970-01-01T00:00:00Z`)).json.pagination
    const cursor = decodeCursor(nextCursor, kind.name, api.organizationId)
    if (cursor === null) throw new Error('the cursor is none of this list')
    const before = encodeCursor({ ...cursor, epoch: cursor.epoch + 1 })
    const { status, json } = await api.get(`${path}?cursor=${before}`)
    expect([status, json.code]).toEqual([410, 'cursor_too_old'])
  })

  for (const action of Object.keys(kind.actions)) {
    test(`${action} is not done to another version`, async () => {
      const { api, id } = await exampleOf(action)
      const { status, json } = await api.post(`${path}/${id}/${action}`, exampleInput(kind, action), other)
      expect([status, json.code]).toEqual([412, 'version_mismatch'])
    })
  }

  if (!kind.immutable && kind.fields.externalId?.unique) {
    test('a change to a value that another has names the other', async () => {
      const { api, id, body } = await exampleOf('first')
      const second = await exampleOf('second')
      const { status, json } = await api.patch(`${path}/${second.id}`, { externalId: body.externalId })
      expect([status, json.code, json.existingId]).toEqual([409, 'duplicate', id])
    })
  }
})
