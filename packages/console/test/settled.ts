import type { Page } from 'playwright-core'

/** Resolves when the page has its fonts, shows no skeleton and asks for nothing more. */
export async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
  await page.evaluate('document.fonts.ready')
  await page.waitForFunction('document.querySelector("[aria-busy=true]") === null')
}
