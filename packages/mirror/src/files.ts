/** A mirror's files are private to the user, as they hold a desk. */
import { closeSync, existsSync, openSync } from 'node:fs'
import { FileTaken } from './store.ts'

/** The modes of a new file and of a new directory. */
export const [fileMode, directoryMode] = [0o600, 0o700]

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
