/** One service and one browser for all tests of a file; each test takes an organization or page of its own. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { startBrowser } from './browser.ts'
import { type TestService, testService } from './service.ts'

/** Call it once, at the top of a file. */
export function sharedService(options: Parameters<typeof testService>[0] = {}): () => TestService {
  return shared(() => testService(options))
}

export function sharedBrowser(): () => Browser {
  return shared(startBrowser)
}

function shared<T extends AsyncDisposable>(start: () => Promise<T>): () => T {
  let started: T | undefined
  beforeAll(async () => {
    started = await start()
  })
  afterAll(async () => {
    await started?.[Symbol.asyncDispose]()
  })
  return () => {
    if (started === undefined) throw new Error('it is there once tests run')
    return started
  }
}
