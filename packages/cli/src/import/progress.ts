/**
 * How far an import has come, in a file beside the CSV: written after each batch, so that an import that was
 * interrupted, by whatever, goes on where it was.
 */
import { readFile, rm } from 'node:fs/promises'
import { readJson } from '@deskwire/sdk/json'
import { CommandFailure } from '../failure.ts'
import { replaceFile } from '../files.ts'
import type { RejectsFile } from './rejects.ts'
import type { FileIdentity } from './survey.ts'

/** What an import is of. Another one cannot go on from it. */
export interface ImportIdentity {
  readonly file: FileIdentity
  readonly kind: string
  readonly operation: 'create' | 'import' | 'upsert'
  readonly delimiter: string
  readonly ignored: readonly string[]
  /** Whether rows are created that an earlier import of the file has created. */
  readonly again: boolean
  /** A digest of the service's address and the key. */
  readonly target: string
}

export interface Counts {
  readonly rows: number
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  /** Created by an earlier import of the file. */
  readonly replayed: number
  readonly rejected: number
}

export interface Progress {
  readonly of: ImportIdentity
  /** Is in the Idempotency-Key of every batch whose rows the service looks for: they may be sent again at any time. */
  readonly keys: string
  /** Batches that are done, from the first on without a gap. */
  readonly batches: number
  readonly counts: Counts
  /** The rejects file that belongs to them; null while there is none. */
  readonly rejects: RejectsFile | null
  /** When it was written: milliseconds since 1970. */
  readonly at: number
}

export const noCounts: Counts = { rows: 0, created: 0, updated: 0, unchanged: 0, replayed: 0, rejected: 0 }

export function progressPath(path: string): string {
  return `${path}.progress.json`
}

/** The progress of this very import; null when there is none. @throws CommandFailure when it is of another. */
export async function loadProgress(path: string, of: ImportIdentity): Promise<Progress | null> {
  const file = progressPath(path)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  const found = parsed(text)
  const differs = found === null ? ['it cannot be read'] : differences(found.of, of)
  if (found !== null && differs.length === 0) return found
  throw new CommandFailure(
    `${file} is not of this import (${differs.join('; ')}): go on as it was begun, or delete that file to begin anew`,
  )
}

export async function saveProgress(path: string, progress: Progress): Promise<void> {
  await replaceFile(progressPath(path), `${JSON.stringify(progress)}\n`)
}

export async function removeProgress(path: string): Promise<void> {
  await rm(progressPath(path), { force: true })
}

function parsed(text: string): Progress | null {
  try {
    const found = readJson(text) as Progress
    return Number.isInteger(found.batches) && typeof found.keys === 'string' && typeof found.of === 'object'
      ? found
      : null
  } catch {
    return null
  }
}

const words: Readonly<Record<keyof ImportIdentity, string>> = {
  file: 'the file has changed',
  kind: 'it was of another --kind',
  operation: 'rows were found in another way',
  delimiter: 'it had another --delimiter',
  ignored: 'it had another --ignore',
  again: 'it was begun with or without --again',
  target: 'it went to another --url, or with another --key',
}

function differences(found: ImportIdentity, of: ImportIdentity): string[] {
  const names = Object.keys(words) as (keyof ImportIdentity)[]
  return names
    .filter((name) => JSON.stringify(found[name]) !== JSON.stringify(of[name]))
    .map((name) => words[name])
}
