/**
 * A first look at the files of an account, from end to end, before anything is sent; and their records, again for
 * each pass.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { readJson } from '@deskwire/sdk/json'
import { CommandFailure } from '../../failure.ts'
import { UsageError } from '../../usage-error.ts'
import { faultsText, lossFaults } from '../fault.ts'
import { type Account, isJson, type Json, type Listed, type Sort } from './account.ts'
import { type FoundRecord, recordsIn } from './json-records.ts'

export interface SurveyedFile {
  readonly path: string
  readonly size: number
  readonly sha256: string
  /** How many records of each sort it has. */
  readonly records: Readonly<Record<Sort, number>>
}

export interface Surveyed {
  readonly files: readonly SurveyedFile[]
  readonly records: Readonly<Record<Sort, number>>
  /** What is in the files and is no record of the helpdesk. */
  readonly unrecognized: readonly Listed[]
}

const none = { person: 0, thread: 0, comments: 0, names: 0, ignored: 0 }

/** Shows every record to the account. @throws UsageError for files that hold nothing of it. */
export async function surveyFiles(
  account: Account,
  paths: readonly string[],
  onBytes: (bytes: number) => void,
): Promise<Surveyed> {
  const files: SurveyedFile[] = []
  const unrecognized: Listed[] = []
  for (const path of paths) {
    await requireFile(path)
    const hash = createHash('sha256')
    let size = 0
    const records = { ...none }
    const onPiece = (piece: Uint8Array) => {
      hash.update(piece)
      size += piece.length
      onBytes(piece.length)
    }
    let unknown = 0
    for await (const found of recordsOfFile(account, path, onPiece)) {
      const record = parsed(path, found)
      const sort = account.sortOf(record, found.list)
      if (sort === null) {
        unknown++
        const reason = `is none of: ${account.wanted}`
        unrecognized.push({ kind: 'record', id: `${path}:${found.line}`, outcome: 'refused', reason })
        // A file of something else, of any size.
        if (unknown >= 1_000) throw notOf(account, path)
        continue
      }
      records[sort]++
      account.survey(record, sort)
    }
    if (Object.values(records).every((count) => count === 0)) throw notOf(account, path)
    files.push({ path, size, sha256: hash.digest('hex'), records })
  }
  const sum = (sort: Sort) => files.reduce((total, file) => total + file.records[sort], 0)
  const records = Object.fromEntries(Object.keys(none).map((sort) => [sort, sum(sort as Sort)]))
  return { files, records: { ...none, ...records }, unrecognized }
}

/** The records of a sort, in the order of the files; those whose values cannot be kept exactly with what is wrong. */
export async function* recordsOf(
  account: Account,
  { files }: Surveyed,
  sort: Sort,
): AsyncGenerator<{ readonly record: Json; readonly fault: string | null }, void, undefined> {
  for (const { path, records, sha256 } of files) {
    if (records[sort] === 0) continue
    const hash = createHash('sha256')
    for await (const found of recordsOfFile(account, path, (piece) => hash.update(piece))) {
      const record = parsed(path, found)
      if (account.sortOf(record, found.list) !== sort) continue
      const faults = lossFaults(found.text).filter(({ path }) => account.reads(path))
      yield { record, fault: faults.length === 0 ? null : faultsText(faults) }
    }
    if (hash.digest('hex') !== sha256)
      throw new CommandFailure(`${path} was changed while it was being read: run the command again`)
  }
}

function recordsOfFile(account: Account, path: string, onPiece: (piece: Uint8Array) => void) {
  const pieces = async function* () {
    for await (const piece of createReadStream(path, {
      highWaterMark: 1024 * 1024,
    }) as AsyncIterable<Uint8Array>) {
      onPiece(piece)
      yield piece
    }
  }
  return recordsIn(path, pieces(), account.lists)
}

function parsed(path: string, { text, line }: FoundRecord): Json {
  try {
    const value = readJson(text)
    if (isJson(value)) return value
  } catch (error) {
    throw new CommandFailure(`${path}: the record on line ${line} is not JSON: ${(error as Error).message}`)
  }
  throw new CommandFailure(`${path}: the record on line ${line} is no object`)
}

async function requireFile(path: string): Promise<void> {
  const file = await stat(path).catch((error: NodeJS.ErrnoException) => {
    const address = /\.(?:com|io)\b/.test(path) ? '; the address of an account begins with https://' : ''
    throw new UsageError(
      `${path} cannot be read: ${error.code === 'ENOENT' ? `there is no such file${address}` : error.message}`,
    )
  })
  if (file.isDirectory())
    throw new UsageError(`${path} is a directory: name its files, such as ${path}/*.json`)
}

function notOf(account: Account, path: string): UsageError {
  return new UsageError(`${path} does not hold ${account.wanted}, as JSON or lines of JSON`)
}
