/** Tarballs as npm makes them. Packing twice gives the same bytes. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

export interface Tarball {
  /** `@deskwire/sdk`. */
  readonly name: string
  readonly path: string
  /** Paths below `package/`. */
  readonly files: readonly string[]
  /** In bytes, packed and unpacked. */
  readonly size: number
  readonly unpackedSize: number
}

interface NpmPacked {
  readonly name: string
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
  readonly size: number
  readonly unpackedSize: number
}

/** Creates the directory. */
export function packPackages(directories: readonly string[], into: string): readonly Tarball[] {
  mkdirSync(into, { recursive: true })
  const options = ['--json', '--loglevel=error', '--offline', '--pack-destination', into]
  const said = execFileSync('npm', ['pack', ...options, ...directories], { encoding: 'utf8' })
  const packed: unknown = JSON.parse(said)
  // A list up to npm 11, an object by name from 12 on.
  const entries = Object.values(packed as Record<string, NpmPacked>)
  return entries.map(({ name, filename, files, size, unpackedSize }) => ({
    name,
    path: join(into, filename),
    files: files.map(({ path }) => path),
    size,
    unpackedSize,
  }))
}
