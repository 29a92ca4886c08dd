/**
 * What the pages below /docs have in common with the console, beside the service's own assets, as a packed service has no sources of
 * the console: the tokens of the design system, and its font with the font's licence.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const tokens = fileURLToPath(new URL('../../packages/console/src/design/tokens.css', import.meta.url))
const fonts = '@fontsource-variable/geist'

/** What makes each file, by its path in the repository. */
export function pageFiles(): Readonly<Record<string, () => Buffer>> {
  const here = createRequire(new URL('../../packages/service/package.json', import.meta.url))
  const font = dirname(here.resolve(`${fonts}/package.json`))
  return {
    'packages/service/assets/tokens.css': () => readFileSync(tokens),
    'packages/service/assets/geist.woff2': () =>
      readFileSync(join(font, 'files/geist-latin-wght-normal.woff2')),
    'packages/service/assets/geist.LICENSE.txt': () => readFileSync(join(font, 'LICENSE')),
  }
}
