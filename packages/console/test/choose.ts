import type { Locator } from 'playwright-core'

/** Chooses an option of a select, by its words. */
export async function choose(select: Locator, words: string): Promise<void> {
  await select.click()
  const page = select.page()
  await page.getByRole('option', { name: words, exact: true }).click()
  await page.getByRole('listbox').waitFor({ state: 'detached' })
}
