import { expect, test } from 'vitest'
import { testService } from './harness/service.ts'

test('a DELETE may name the type of a body that it does not have', async () => {
  await using service = await testService()
  const { json } = await service.api.post('/v1/customers', { name: 'Ada' })
  const type = { 'content-type': 'application/json' }
  expect((await service.api.delete(`/v1/customers/${json.id}`, type)).status).toBe(204)
  expect((await service.api.post('/v1/customers', '', type)).json.code).toBe('malformed_json')
})
