/** Files that commands write: for their user alone, whole or not at all, and never over a file of others. */
import { randomBytes } from 'node:crypto'
import { chmod, rename, rm, writeFile } from 'node:fs/promises'

/** The modes of a new file and of a new directory. */
export const [fileMode, directoryMode] = [0o600, 0o700] as const

/** A name beside `path` that no other file has, for what is not whole yet. */
export function partOf(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.part`
}

/** Replaces the file in one step: killed at any moment, it holds what it held or the new text. */
export async function replaceFile(path: string, text: string, mode: number = fileMode): Promise<void> {
  const part = partOf(path)
  try {
    await writeFile(part, text, { mode: fileMode, flag: 'wx', flush: true })
    if (mode !== fileMode) await chmod(part, mode)
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}
