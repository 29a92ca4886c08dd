/** Files that a mirror makes are for its user alone: what is in them is a desk. */
import { closeSync, existsSync, openSync } from 'node:fs'
import { FileTaken } from './store.ts'

/** The modes of a new file and of a new directory. */
export const [fileMode, directoryMode] = [0o600, 0o700]

/** Makes an empty file, if there is none: what opens it then leaves its mode alone. */
export function makeOwnFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', fileMode))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Before a database is made: nothing of it may be there. @throws FileTaken */
export function requireFree(path: string, endings: readonly string[]): void {
  const taken = endings.map((ending) => path + ending).find(existsSync)
  if (taken !== undefined) throw new FileTaken(taken)
}
