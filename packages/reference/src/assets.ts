/** The files that pages load. Their names have a hash of the content, so that browsers cache them for good. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Asset {
  /** Where it is served. */
  readonly address: string
  readonly content: Buffer
}

/** Tokens and font are the console's. */
export function readAssets() {
  const font = asset('geist.woff2', installed('files/geist-latin-wght-normal.woff2'))
  const search = asset('search.js', own('search.js'))
  const script = own('docs.js').toString().replace('search.js', basename(search.address))
  const style = own('docs.css').toString().replace('geist.woff2', font.address)
  return {
    font,
    license: asset('geist-license.txt', installed('LICENSE')),
    tokens: asset(
      'tokens.css',
      readFileSync(new URL('../../console/src/design/tokens.css', import.meta.url)),
    ),
    style: asset('docs.css', Buffer.from(style)),
    script: asset('docs.js', Buffer.from(script)),
    search,
    theme: asset('theme.js', own('theme.js')),
    icon: asset('icon.svg', own('icon.svg')),
  } satisfies Record<string, Asset>
}

function asset(file: string, content: Buffer): Asset {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16)
  const extension = extname(file)
  return { address: `/docs/assets/${file.slice(0, -extension.length)}.${hash}${extension}`, content }
}

function own(file: string): Buffer {
  return readFileSync(new URL(`../assets/${file}`, import.meta.url))
}

function installed(file: string): Buffer {
  return readFileSync(fileURLToPath(import.meta.resolve(`@fontsource-variable/geist/${file}`)))
}
