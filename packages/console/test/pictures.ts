/** Pictures in docs/console: a screen in light, in dark, and narrow. */
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { ConsolePage, PageOptions } from './harness.ts'
import { settled } from './settled.ts'

const directory = fileURLToPath(new URL('../../../docs/console/', import.meta.url))

/** What a picture may weigh, in bytes. */
const atMost = 60 * 1024

const looks = {
  light: { scheme: 'light', width: 1280, height: 800 },
  dark: { scheme: 'dark', width: 1280, height: 800 },
  narrow: { scheme: 'light', width: 360, height: 720 },
} as const

/** Writes `NAME-LOOK.webp` for each look. `ready` resolves when the page shows what it is about. */
export async function takePictures(
  name: string,
  open: (options: PageOptions) => Promise<ConsolePage>,
  ready: (page: ConsolePage['page']) => Promise<unknown>,
  wanted: readonly (keyof typeof looks)[] = ['light', 'dark', 'narrow'],
): Promise<void> {
  await mkdir(directory, { recursive: true })
  for (const look of wanted) {
    const { page, context } = await open(looks[look])
    await ready(page)
    await settled(page)
    // As WebP, a third of a PNG, which Playwright does not write by itself.
    const session = await context.newCDPSession(page)
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
    const picture = Buffer.from(data, 'base64')
    expect(picture.length, name).toBeLessThan(atMost)
    await writeFile(`${directory}${name}-${look}.webp`, picture)
    await context.close()
  }
}
