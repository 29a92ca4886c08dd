/** What `packages/console` is built to: one page, and the files that it loads. */
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Versioned } from '../docs/sending.ts'
import { versioned } from '../docs/sending.ts'
import { type Compressed, compressOnce } from '../http/compression.ts'

/** A file whose name changes with its content. */
interface ConsoleAsset {
  readonly mediaType: string
  readonly forms: Compressed
}

export interface ConsoleFiles {
  readonly page: Versioned
  /** By name. */
  readonly assets: ReadonlyMap<string, ConsoleAsset>
}

/** Where the build puts them, in a checkout as in the packed service. */
export const builtConsole = new URL('../../assets/console/', import.meta.url)

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** Reads and compresses them, once: a quarter of a second. Null where nothing has been built. */
export async function readConsole(directory: URL): Promise<ConsoleFiles | null> {
  const page = await readFile(new URL('index.html', directory), 'utf8').catch(absent)
  if (page === null) return null
  const names = await readdir(new URL('assets/', directory))
  const assets = names.map(async (name) => {
    const mediaType = mediaTypes[extname(name)] ?? 'application/octet-stream'
    const forms = await compressOnce(await readFile(new URL(`assets/${name}`, directory)))
    return [name, { mediaType, forms }] as const
  })
  return { page: await versioned(page, 'text/html'), assets: new Map(await Promise.all(assets)) }
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error
  return null
}
