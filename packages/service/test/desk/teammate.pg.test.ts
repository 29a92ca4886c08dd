/** Teammates field by field. Only their deletion has an event. */
import { beforeAll, describe, expect, test } from 'vitest'
import { makeTeammate } from '../../../testbed/desk.ts'
import { absent, type FieldCase, refused, tryChange, tryCreation } from '../../../testbed/field-cases.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'

const shared = sharedService()
let api: Api

beforeAll(async () => {
  api = await shared().newOrganization()
})

describe('at creation and in a change', () => {
  const either: readonly FieldCase[] = [
    ['name', 'n'.repeat(255), 'n'.repeat(255)],
    ['name', 'n'.repeat(256), refused('too_long')],
    ['name', '', refused('too_short')],
    ['name', null, refused('invalid_type')],
    ['email', 'Grace@Example.COM', 'grace@example.com'],
    ['email', 'grace', refused('invalid_format')],
    ['email', null, null],
    ['active', false, false],
    ['active', 'yes', refused('invalid_type')],
    ['active', null, refused('invalid_type')],
    ['externalId', 'x', refused('unknown_field')],
    ['tags', ['a'], refused('unknown_field')],
    ['updatedAt', '2026-01-01T00:00:00.000Z', refused('read_only')],
  ]

  test.each<FieldCase>([['name', absent, refused('required')], ['active', absent, true], ...either])(
    'created with %s: %j',
    async (...given) => {
      await tryCreation(api, '/v1/teammates', { name: 'Grace' }, given)
    },
  )

  test.each(either)('changed to %s: %j', async (...given) => {
    await tryChange(api, `/v1/teammates/${(await makeTeammate(api)).id}`, given)
  })
})

test('two may share an email address, and lists find them by it and by whether they are active', async () => {
  const own = await shared().newOrganization()
  const email = 'desk@example.com'
  const first = await makeTeammate(own, { name: 'Grace', email })
  const second = await makeTeammate(own, { name: 'Ada', email, active: false })
  const found = async (query: string) =>
    (await own.get(`/v1/teammates?${query}`)).json.data.map(({ id }: { id: string }) => id)
  expect(await found(`email=${email}`)).toEqual([second.id, first.id])
  expect(await found('q=gra')).toEqual([first.id])
})

test('has one event, of its deletion', async () => {
  const own = await shared().newOrganization()
  const { id } = await makeTeammate(own)
  await own.patch(`/v1/teammates/${id}`, { name: 'Ada' })
  expect(await storedEvents(shared(), own.organizationId)).toEqual([])
  await own.delete(`/v1/teammates/${id}`)
  const stored = await storedEvents(shared(), own.organizationId)
  expect(stored.map(({ type }) => type)).toEqual(['teammate.deleted'])
})
