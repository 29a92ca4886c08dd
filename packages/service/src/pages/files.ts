/** The files of a built site, by URL path. */
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { first, type Versioned, versioned } from '../http/static-content.ts'

/** The output of `npm run build:pages`, in a checkout and in the package. */
export const builtConsole = new URL('../../assets/console/', import.meta.url)
export const builtDocs = new URL('../../assets/docs/', import.meta.url)

/** The page for unknown error codes, and its placeholder for the code. */
export const unknownErrorFile = '/unknown-error'
export const unknownErrorName = '{code}'

export interface SiteFile {
  readonly type: MediaType
  /** Read and compressed for the first request, then cached. */
  readonly content: () => Promise<Versioned>
}

/** The representations of each path, the default first. */
type Site = ReadonlyMap<string, readonly SiteFile[]>

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

/** `a/index.html` is at `BASE/a`; `b.md.html` is a representation of `b.md`. Null when nothing is built. */
export async function readSite(directory: URL, base: string): Promise<Site | null> {
  const names = await readdir(directory, { recursive: true, withFileTypes: true }).catch(absent)
  if (names === null) return null
  const root = fileURLToPath(directory)
  const files = names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const found = files.map((path) => {
    // Other extensions are samples, shown as text.
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
