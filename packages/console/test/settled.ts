import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Resolves when the page has its fonts and shows no skeleton. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main#content').waitFor()
  await page.evaluate('document.fonts.ready')
  // Not by what Playwright evaluates in the page again and again: the policy of the page stops that.
  await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0)
}

/** Resolves once the page asks for what is new as a stream. */
export function follows(page: Page): Promise<unknown> {
  return page.waitForRequest((request) => request.headers().accept?.startsWith('text/event-stream') === true)
}
