/** The pictures in docs/pages, of pages below /docs: `npm run screenshots` writes them. */
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, test } from 'vitest'
import { startBrowser } from '../../service/test/harness/browser.ts'
import { takePicture } from '../../service/test/harness/picture.ts'
import { type TestService, testService } from '../../service/test/harness/service.ts'

let browser: Browser
let service: TestService

beforeAll(async () => {
  browser = await startBrowser()
  service = await testService()
})

afterAll(async () => {
  await browser?.close()
  await service?.[Symbol.asyncDispose]()
})

interface Pictured {
  readonly path: string
  readonly scheme?: 'dark'
  readonly size?: { readonly width: number; readonly height: number }
  readonly prepare?: (page: Page) => Promise<unknown>
}

const pictures: Readonly<Record<string, Pictured>> = {
  overview: { path: '/docs' },
  operation: { path: '/docs/api/updateTicket', scheme: 'dark', size: { width: 1440, height: 900 } },
  search: {
    path: '/docs/guides/sync.md',
    async prepare(page) {
      await page.keyboard.press('/')
      await page.getByRole('combobox').fill('cursor')
      await page.getByRole('option').first().waitFor()
    },
  },
  narrow: { path: '/docs/events/ticket.status_changed', size: { width: 390, height: 800 } },
}

test.each(Object.entries(pictures))('%s', async (name, { path, scheme, size, prepare }) => {
  const context = await browser.newContext({
    colorScheme: scheme ?? 'light',
    viewport: size ?? { width: 1280, height: 800 },
    reducedMotion: 'reduce',
  })
  // A machine that is busy with other things is slow, and not broken.
  context.setDefaultTimeout(100_000)
  const page = await context.newPage()
  await page.goto(service.url + path, { waitUntil: 'networkidle' })
  await prepare?.(page)
  await page.evaluate('document.fonts.ready')
  await takePicture(page, fileURLToPath(new URL(`../../../../docs/pages/${name}.webp`, import.meta.url)))
  await context.close()
})
