/**
 * The files of an export as a source of rows: each in its last version, and none unless all of them are proved to be
 * there.
 */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { RowsDigest } from '@deskwire/sdk'
import { readJson } from '@deskwire/sdk/json'
import { type Kind, kinds } from '@deskwire/service/kinds'
import { CommandFailure } from '../../failure.ts'
import { endsAsExport } from '../../files.ts'
import { UsageError } from '../../usage-error.ts'
import { isLinesFile, isObject, readLines } from '../ndjson.ts'
import { type ExportedRow, Sum } from './content.ts'

export interface ExportedLine {
  readonly line: number
  readonly text: string
  readonly row: ExportedRow
}

/** A file of an export. */
export interface ExportedKind {
  readonly kind: Kind
  readonly path: string
  readonly count: number
  readonly organizationId: string | null
  /** Again with each call. */
  rows(): AsyncGenerator<ExportedLine, void, undefined>
}

/** Whether the path is a directory, or a file of `deskwire export`. */
export async function isExport(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  if (found?.isDirectory()) return true
  return found?.isFile() === true && isLinesFile(path) && (await endsAsExport(path))
}

/**
 * The kinds that the directory or file holds, each after those that it refers to. @throws UsageError where there is
 * no export; CommandFailure for one that is not whole.
 */
export async function openExport(path: string): Promise<readonly ExportedKind[]> {
  if (!(await stat(path)).isDirectory()) return [await openKind(path, await kindOfFile(path), null)]
  const manifest = await readManifest(path)
  const opened: ExportedKind[] = []
  for (const kind of kinds) {
    const name = manifest === null ? `${kind.plural}.ndjson` : manifest.files[kind.name]
    const file = join(path, name ?? '')
    if (name === undefined || (manifest === null && (await stat(file).catch(() => null)) === null)) continue
    opened.push(await openKind(file, kind, manifest?.checkpoint[kind.name] ?? null))
  }
  if (opened.length === 0)
    throw new UsageError(
      `${path} holds no export: there is neither a manifest.json of deskwire mirror run --to ndjson:${path}, nor a file such as customers.ndjson of deskwire export`,
    )
  return opened
}

interface Manifest {
  readonly files: Readonly<Record<string, string>>
  readonly checkpoint: Readonly<Record<string, RowsDigest>>
}

async function readManifest(directory: string): Promise<Manifest | null> {
  const path = join(directory, 'manifest.json')
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  let manifest: unknown
  try {
    manifest = readJson(text)
  } catch {
    manifest = null
  }
  if (!isObject(manifest) || !isManifest(manifest))
    throw new UsageError(`${path} is not of an export: export the organization again`)
  const { exclude = [], hash = [], body = true } = isObject(manifest.selection) ? manifest.selection : {}
  if ([exclude, hash].flat().length > 0 || body === false)
    throw new UsageError(
      `${path}: fields were left out of this export: export without --exclude, --hash and --no-body`,
    )
  const { files, checkpoint } = manifest
  const unknown = Object.keys(files).filter((name) => !kinds.some((kind) => kind.name === name))
  if (unknown.length > 0)
    throw new UsageError(
      `${path}: this version knows no ${unknown.join(', no ')}: use the one that exported it`,
    )
  if (Object.values(files).some((file) => !isLinesFile(file)))
    throw new UsageError(`${directory} is an export as Parquet: export with --to ndjson:DIR`)
  return { files, checkpoint }
}

function isManifest(value: Readonly<Record<string, unknown>>): value is Record<string, unknown> & Manifest {
  const { object, files, checkpoint } = value
  const hasFiles = isObject(files) && Object.values(files).every((file) => typeof file === 'string')
  return object === 'export' && hasFiles && isObject(checkpoint)
}

async function kindOfFile(path: string): Promise<Kind> {
  for await (const { line, record } of recordsOf(path)) {
    const kind = kinds.find(({ name }) => name === record.object)
    if (kind !== undefined) return kind
    if (record.object === 'export_end') break
    throw new CommandFailure(`${path}: line ${line} is of no kind that is known`)
  }
  throw new UsageError(`${path} holds no rows`)
}

/**
 * @throws CommandFailure where the rows are not those of the checkpoint, which is in the last line where none is
 * given.
 */
async function openKind(path: string, kind: Kind, given: RowsDigest | null): Promise<ExportedKind> {
  const last = new Map<string, { readonly line: number; readonly version: string }>()
  const sum = new Sum()
  let isRepeated = false
  let checkpoint = given
  let organizationId: string | null = null
  for await (const { line, record } of recordsOf(path)) {
    if (record.object === 'export_end') {
      checkpoint ??= (record.checkpoint ?? null) as RowsDigest | null
      continue
    }
    const { id } = record
    const isRemoved = record.object === 'removed' && record.resource === kind.name
    if (typeof id !== 'string' || !(isRemoved || record.object === kind.name))
      throw new CommandFailure(`${path}: line ${line} is no ${kind.name}`)
    const before = last.get(id)
    if (before !== undefined) sum.take(before.version, -1)
    if (isRemoved || before !== undefined) isRepeated = true
    if (isRemoved) {
      last.delete(id)
      continue
    }
    const { organizationId: of, updatedAt } = record
    organizationId = String(of)
    const version = `${id}:${updatedAt}`
    last.set(id, { line, version })
    sum.take(version)
  }
  if (checkpoint === null)
    throw new CommandFailure(`${path} was cut off: its last line is no export_end. Export it again`)
  if (sum.count !== checkpoint.count || sum.digest !== checkpoint.digest)
    throw new CommandFailure(
      `${path} has not the rows that were exported: ${sum.count} with the digest ${sum.digest}, where its checkpoint has ${checkpoint.count} with ${checkpoint.digest}. Export it again`,
    )
  const { count } = sum
  const lineOf = isRepeated ? new Map([...last].map(([id, { line }]) => [id, line])) : null
  return {
    kind,
    path,
    count,
    organizationId,
    async *rows() {
      for await (const { line, text, record } of recordsOf(path)) {
        if (record.object !== kind.name) continue
        const row = record as ExportedRow
        if (lineOf === null || lineOf.get(row.id) === line) yield { line, text, row }
      }
    },
  }
}

async function* recordsOf(path: string) {
  for await (const { line, cells } of readLines(path, {})) {
    const text = cells[0] ?? ''
    let record: unknown
    try {
      record = readJson(text)
    } catch (error) {
      throw new CommandFailure(`${path}: line ${line} is not JSON: ${(error as Error).message}`)
    }
    if (!isObject(record)) throw new CommandFailure(`${path}: line ${line} is no JSON object`)
    yield { line, text, record }
  }
}
