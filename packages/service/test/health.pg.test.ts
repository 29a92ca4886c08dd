import { expect, test } from 'vitest'
import { testService } from './harness/service.ts'

test('health and readiness need no key', async () => {
  await using service = await testService()
  const stranger = service.withToken(null)
  expect((await stranger.get('/healthz')).json).toEqual({ status: 'ok' })
  expect((await stranger.get('/readyz')).json).toEqual({ status: 'ready' })
})
