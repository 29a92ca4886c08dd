/**
 * How far an account has come, in a file next to its files: written after each chunk, so that the command goes on
 * when it is run again.
 */
import { rm } from 'node:fs/promises'
import { readJson } from '@deskwire/sdk/json'
import { CommandFailure } from '../../failure.ts'
import { readIfThere, replaceFile } from '../../files.ts'
import type { RejectsFile } from '../rejects.ts'
import type { Listed, Sort } from './account.ts'

/** Rows of a kind, by what became of them. */
export interface RowCounts {
  readonly created: number
  /** They were there, from an earlier import or with the same e-mail address. */
  readonly present: number
  readonly refused: number
}

export interface Counts {
  /** Messages and notes there. */
  readonly comments: number
  readonly rows: Readonly<Record<string, RowCounts>>
  readonly listed: Readonly<Record<Listed['outcome'], number>>
}

export interface AccountProgress {
  /** The files by their digests, and the service's address with the organization and the prefix. */
  readonly of: { readonly files: readonly string[]; readonly target: string }
  readonly done: Readonly<Record<Extract<Sort, 'person' | 'thread' | 'comments'>, number>>
  readonly counts: Counts
  /** Customers that are there by another id than that of this helpdesk. */
  readonly customers: Readonly<
    Record<string, { readonly customerId: string } | { readonly customerExternalId: string }>
  >
  /** Customers who were made for threads. */
  readonly made: readonly string[]
  /** Threads that were refused, so that their comments are too. */
  readonly refused: readonly string[]
  /** Agents without a teammate at the beginning who do not work there any more. */
  readonly leaving: readonly string[]
  readonly listed: RejectsFile | null
}

/** The progress of this import; null when there is none. @throws CommandFailure when it is of another. */
export async function loadAccountProgress(
  path: string,
  of: AccountProgress['of'],
): Promise<AccountProgress | null> {
  const text = await readIfThere(path)
  if (text === null) return null
  const found = readProgress(text)
  const fault =
    found === null
      ? 'it cannot be read'
      : found.of.target !== of.target
        ? 'it went to another service or organization, or with another --prefix'
        : JSON.stringify(found.of.files) !== JSON.stringify(of.files)
          ? 'its files were others'
          : null
  if (fault === null) return found
  throw new CommandFailure(
    `${path} is not of this import (${fault}): go on as it was begun, or delete that file to begin anew`,
  )
}

export async function saveAccountProgress(path: string, progress: AccountProgress): Promise<void> {
  await replaceFile(path, `${JSON.stringify(progress)}\n`)
}

export async function removeAccountProgress(path: string): Promise<void> {
  await rm(path, { force: true })
}

function readProgress(text: string): AccountProgress | null {
  try {
    const found = readJson(text) as AccountProgress
    const isWhole =
      Array.isArray(found.of.files) && Number.isInteger(found.done.thread) && Array.isArray(found.leaving)
    return isWhole ? found : null
  } catch {
    return null
  }
}
