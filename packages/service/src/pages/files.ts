/** The files of a built site, by the addresses that their names give. */
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { first, type Versioned, versioned } from '../http/versioned.ts'

/** Where `npm run build:pages` puts the console and the documentation, in a checkout as in the packed service. */
export const builtConsole = new URL('../../assets/console/', import.meta.url)
export const builtDocs = new URL('../../assets/docs/', import.meta.url)

/** The page of a code that no problem has, at an address that no route has, and what it has in place of the code. */
export const unknownErrorFile = '/unknown-error'
export const unknownErrorName = '{code}'

/** One form of what is at an address. */
export interface SiteFile {
  /** Without its charset. */
  readonly type: MediaType
  /** Read and compressed for the first client that asks, and kept. */
  readonly content: () => Promise<Versioned>
}

/** The forms that each address can be asked for in, the usual one first. */
export type Site = ReadonlyMap<string, readonly SiteFile[]>

/** In the order in which an address prefers them. */
const mediaTypes = {
  '.md': 'text/markdown',
  '.html': 'text/html',
  '.json': 'application/json',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain',
} as const
type MediaType = (typeof mediaTypes)[keyof typeof mediaTypes]
const preference = Object.values(mediaTypes)

/** Below `base`: `a/index.html` is at `BASE/a`, `b.md.html` a form of `b.md`. Null where nothing has been built. */
export async function readSite(directory: URL, base: string): Promise<Site | null> {
  const names = await readdir(directory, { recursive: true, withFileTypes: true }).catch(absent)
  if (names === null) return null
  const root = fileURLToPath(directory)
  const files = names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const found = files.map((path) => {
    // What has another name is a program, to be read.
    const type = mediaTypes[extname(path) as keyof typeof mediaTypes] ?? 'text/plain'
    const sent = /^(?:text|application)/.test(type) ? `${type}; charset=utf-8` : type
    const content = first(async () => versioned(await readFile(path), sent))
    return { address: addressOf(`${base}/${relative(root, path).replaceAll(sep, '/')}`), type, content }
  })
  const inOrder = found.sort((a, b) => preference.indexOf(a.type) - preference.indexOf(b.type))
  return Map.groupBy(inOrder, ({ address }) => address)
}

function addressOf(path: string): string {
  return path.replace(/\/index\.\w+$|\.html$/, '') || '/'
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ENOENT') throw error
  return null
}
