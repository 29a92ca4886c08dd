/** A mirror's files are private to the user, as they hold a desk. */
import { closeSync, existsSync, openSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { FileTaken } from './store.ts'

/** The modes of a new file and of a new directory. */
export const [fileMode, directoryMode] = [0o600, 0o700]

/**
 * Creates a directory and missing ones above it. Node's own recursion never ends below /proc, where nothing can be
 * created.
 */
export async function makeDirectory(path: string): Promise<void> {
  const missing: string[] = []
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.unshift(at)
  for (const directory of missing)
    await mkdir(directory, { mode: directoryMode }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
}

/** Creates an empty file if there is none; opening it later keeps its mode. */
export function makeOwnFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', fileMode))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Before a database is created. @throws FileTaken when one of its files exists. */
export function requireFree(path: string, endings: readonly string[]): void {
  const taken = endings.map((ending) => path + ending).find(existsSync)
  if (taken !== undefined) throw new FileTaken(taken)
}
