/** Pictures in docs/console: a screen in light, in dark and narrow, with nothing in it, and when the service fails. */
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { takePicture } from '../../service/test/harness/picture.ts'
import type { Api } from '../../service/test/harness/service.ts'
import type { Bench, PageOptions } from './harness.ts'
import { settled } from './settled.ts'

const directory = fileURLToPath(new URL('../../../docs/console/', import.meta.url))

export const wide = { scheme: 'light', width: 1280, height: 800 } as const
export const looks = [
  ['light', wide],
  ['dark', { ...wide, scheme: 'dark' }],
  ['narrow', { scheme: 'light', width: 360, height: 720 }],
] as const

/** Writes `NAME.webp` of what is at an address below /console, once it has the heading. */
export async function picture(
  bench: Bench,
  name: string,
  api: Api | null,
  address: string,
  {
    heading,
    options,
    prepare = async () => {},
    waitsForNews = false,
  }: {
    heading: string | RegExp
    options: PageOptions
    prepare?: ((page: Page) => Promise<unknown>) | undefined
    waitsForNews?: boolean
  },
): Promise<void> {
  const { page, context } = await bench.open(api, address, options)
  await prepare(page)
  // What is behind a dialog is there, and hidden from those who listen.
  await page.getByRole('heading', { level: 1, name: heading, includeHidden: true }).waitFor()
  await settled(page, { waitsForNews })
  await takePicture(page, `${directory}${name}.webp`)
  await context.close()
}

/** Has the service fail all that a screen asks of it, but for who is asking. */
export async function failing(page: Page, asked = /\/v1\/(?!organization|api-keys\/self)/): Promise<void> {
  const problem = {
    type: '/docs/errors/internal_error',
    title: 'The service has failed',
    status: 500,
    code: 'internal_error',
    detail: 'It is in its log, with the id of this request.',
    requestId: 'b1946ac9-2492-4d23-8a3e-3f1b5a1c5e0d',
  }
  await page.route(asked, (route) =>
    route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
  )
  await page.reload()
}
