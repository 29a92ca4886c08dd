import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from './error.ts'

/**
 * Creates a directory and those above it that are missing. Node's own recursion never ends below /proc, where nothing
 * can be created.
 * @returns the outermost that was created; undefined when the directory existed.
 */
export async function makePath(path: string, mode: number): Promise<string | undefined> {
  try {
    return await makeOne(path, mode)
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw error
  }
  const outermost = await makePath(dirname(path), mode)
  const made = await makeOne(path, mode)
  return outermost ?? made
}

/** Another process may create it at the same moment. */
async function makeOne(path: string, mode: number): Promise<string | undefined> {
  try {
    await mkdir(path, { mode })
    return path
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return undefined
    throw error
  }
}
