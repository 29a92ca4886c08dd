/** Teammates field by field. Only their deletion has an event. */
import { expect, test } from 'vitest'
import { makeTeammate } from '../../../testbed/desk.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'

const shared = sharedService()
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
