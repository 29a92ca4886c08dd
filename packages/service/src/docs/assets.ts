/** The files that pages are made with. Each is served at an address with a hash of its content, so that a browser may keep it for good. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Compressed, compressOnce } from '../http/compression.ts'

interface Asset {
  /** Where it is served. */
  readonly address: string
  readonly mediaType: string
  readonly forms: Compressed
}

const own = fileURLToPath(new URL('../../assets/', import.meta.url))

const files = {
  font: 'geist.woff2',
  theme: 'theme.js',
  tokens: 'tokens.css',
  style: 'docs.css',
  icon: 'icon.svg',
  script: 'docs.js',
} as const

export type Assets = Readonly<Record<keyof typeof files, Asset>>

/** Reads them all. The style names the font by the address that this is served at. */
export async function readAssets(): Promise<Assets> {
  const font = await readAsset(files.font)
  const read = Object.entries(files).map(
    async ([name, file]) => [name, await readAsset(file, font.address)] as const,
  )
  return Object.fromEntries(await Promise.all(read)) as unknown as Assets
}

const mediaTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

async function readAsset(file: string, font = ''): Promise<Asset> {
  const stored = await readFile(join(own, file))
  const bytes = file === files.style ? Buffer.from(stored.toString().replace(files.font, font)) : stored
  const [, name = '', extension = ''] = /^(.*)\.(\w+)$/.exec(file) ?? []
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
  return {
    address: `/docs/assets/${name}.${hash}.${extension}`,
    mediaType: mediaTypes[extension] as string,
    forms: await compressOnce(bytes),
  }
}
