/** One service, and one browser, for all tests of a file, each of which takes an organization or a page of its own. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { startBrowser } from './browser.ts'
import { type TestService, testService } from './service.ts'

/** To be called once, at the top of a file. The service is there once its tests run. */
export function sharedService(options: Parameters<typeof testService>[0] = {}): () => TestService {
  return shared(() => testService(options))
}

/** Likewise. */
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
