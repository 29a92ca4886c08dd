import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from './error.ts'

/**
 * Creates a directory and those above it that are missing. Node's own recursion never ends below /proc, where nothing can be created.
 * @returns the outermost that was created; undefined when the directory existed.
 */
export async function makePath(path: string, mode: number): Promise<string | undefined> {
  try {
    await mkdir(path, { mode })
    return path
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return undefined
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw error
  }
  const outermost = await makePath(dirname(path), mode)
  await mkdir(path, { mode })
  return outermost ?? path
}
