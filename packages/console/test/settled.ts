import type { Page } from 'playwright-core'

/** Resolves when the page has its fonts, shows no skeleton and asks for nothing more, unless it waits for news all the time. */
export async function settled(page: Page, { waitsForNews = false } = {}): Promise<void> {
  if (!waitsForNews) await page.waitForLoadState('networkidle')
  await page.evaluate('document.fonts.ready')
  await page.waitForFunction('document.querySelector("[aria-busy=true]") === null')
}
