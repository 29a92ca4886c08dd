// The library links of the binary package. npm packages cannot contain symbolic links, so the package lists them for
// an install script, which this project does not run. Any number of processes may create them at once.
import { randomBytes } from 'node:crypto'
import { readFile, rename, stat, symlink, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { hasCode } from './error.ts'

interface Link {
  readonly source: string
  readonly target: string
}

/** In a package directory (the one with `native` in it). Returns false when links are missing and cannot be created. */
export async function makeLinks(packageDir: string): Promise<boolean> {
  for (const { source, target } of await listedLinks(packageDir)) {
    const path = join(packageDir, target)
    if (await leadsSomewhere(path)) continue
    const temporary = `${path}.${randomBytes(6).toString('hex')}`
    try {
      await symlink(basename(source), temporary)
    } catch (error) {
      if (hasCode(error, 'EACCES', 'EPERM', 'EROFS')) return false
      throw error
    }
    try {
      await rename(temporary, path)
    } catch (error) {
      await unlink(temporary)
      throw error
    }
  }
  return true
}

async function listedLinks(packageDir: string): Promise<Link[]> {
  const found: unknown = JSON.parse(await readFile(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8'))
  if (!Array.isArray(found)) throw new Error(`pg-symlinks.json in ${packageDir} is not a list`)
  return found.map((one: Partial<Record<keyof Link, unknown>>) => {
    const { source, target } = one
    if (typeof source !== 'string' || typeof target !== 'string' || dirname(source) !== dirname(target))
      throw new Error(
        `pg-symlinks.json in ${packageDir} has an entry of another shape: ${JSON.stringify(one)}`,
      )
    return { source, target }
  })
}

async function leadsSomewhere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}
