/**
 * The files that pages are made with: ours, and those of Swagger UI. Each is served at an address with a hash of its
 * content, so that a browser may keep it for good.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Compressed, compressOnce } from '../http/compression.ts'

export interface Asset {
  /** Where it is served. */
  readonly address: string
  readonly mediaType: string
  readonly forms: Compressed
}

const own = fileURLToPath(new URL('../../assets/', import.meta.url))

/** Of the package `swagger-ui-dist`, byte for byte: `npm run generate` puts them there. */
const swaggerUi = join(own, 'swagger-ui')

const files = {
  style: [own, 'docs.css'],
  icon: [own, 'icon.svg'],
  reference: [own, 'reference.js'],
  swaggerStyle: [swaggerUi, 'swagger-ui.css'],
  swagger: [swaggerUi, 'swagger-ui-bundle.js'],
} as const

export type Assets = Readonly<Record<keyof typeof files, Asset>>

/** Reads them all: some two megabytes. */
export async function readAssets(): Promise<Assets> {
  const read = Object.entries(files).map(
    async ([name, [directory, file]]) => [name, await readAsset(directory, file)] as const,
  )
  return Object.fromEntries(await Promise.all(read)) as unknown as Assets
}

const mediaTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

async function readAsset(directory: string, file: string): Promise<Asset> {
  const bytes = await readFile(join(directory, file))
  const [, name = '', extension = ''] = /^(.*)\.(\w+)$/.exec(file) ?? []
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
  return {
    address: `/docs/assets/${name}.${hash}.${extension}`,
    mediaType: mediaTypes[extension] as string,
    forms: await compressOnce(bytes),
  }
}
