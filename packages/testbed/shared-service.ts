/** One service for all tests of a file, each of which takes an organization of its own. */
import { afterAll, beforeAll } from 'vitest'
import { type TestService, testService } from './service.ts'

/** To be called once, at the top of a file. The service is there once its tests run. */
export function sharedService(options: Parameters<typeof testService>[0] = {}): () => TestService {
  let service: TestService | undefined
  beforeAll(async () => {
    service = await testService(options)
  })
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]()
  })
  return () => {
    if (service === undefined) throw new Error('the service is there once tests run')
    return service
  }
}
