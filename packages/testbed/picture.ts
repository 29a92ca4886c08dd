/** Screenshots for the documentation as WebP, a third of a PNG's size, which Playwright does not write itself. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Limit of a screenshot, in bytes. */
const atMost = 120 * 1024

/** Writes the visible part of the page to `path`. */
export async function takePicture(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
  const taken = Buffer.from(data, 'base64')
  expect(taken.length, path).toBeLessThan(atMost)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, taken)
}
