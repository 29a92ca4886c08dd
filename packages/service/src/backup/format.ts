/**
 * The format of a backup file (decision 20): `deskwire backup create 1` and a line break; frames, compressed together
 * with Zstandard; SHA-256 of all bytes before. A frame is a letter, the length of its content in four bytes, most
 * significant first, and the content: a header, then for each table its name and columns and its rows in COPY format,
 * then the end with the counts.
 */

import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { syncDirectory } from '@deskwire/embedded-postgres'
import { readJson } from '@deskwire/sdk/json'
import { z } from 'zod'

/** A backup cannot be made or restored; the message says why, and what to do. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
}

const formatVersion = 1

const magic = 'deskwire backup create '
export const firstLine: Buffer = Buffer.from(`${magic}${formatVersion}\n`)
const checksumLength = 32

/** Identifies the schema of the rows. */
export const headerSchema = z.object({
  createdAt: z.string(),
  version: z.string(),
  migrations: z.array(z.string()),
  /** The partitions of the log; `begins` in milliseconds since the Unix epoch. */
  weeks: z.array(z.object({ table: z.string(), begins: z.number() })),
})
export type Header = Readonly<z.infer<typeof headerSchema>>

export const tableSchema = z.object({ name: z.string(), columns: z.array(z.string()) })
export type BackupTable = Readonly<z.infer<typeof tableSchema>>

/** The values that restored rows are checked against. */
export const endSchema = z.object({
  rows: z.record(z.string(), z.number()),
  /** Checkpoints of existing rows, by organization and stream table. */
  checkpoints: z.array(
    z.object({ table: z.string(), organizationId: z.string(), count: z.number(), digest: z.string() }),
  ),
})
export type End = Readonly<z.infer<typeof endSchema>>

type FrameType = 'header' | 'table' | 'rows' | 'end'

export interface Frame {
  readonly type: FrameType
  readonly content: Buffer
}

const letters: Readonly<Record<FrameType, string>> = { header: 'h', table: 't', rows: 'r', end: 'e' }
const types = new Map(Object.entries(letters).map(([type, letter]) => [letter, type as FrameType]))
const headLength = 5

export function encodeFrame(type: FrameType, content: Uint8Array | object): Buffer {
  const bytes = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content))
  const head = Buffer.alloc(headLength)
  head.write(letters[type], 'latin1')
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

async function* decodeFrames(source: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let held: Buffer = Buffer.alloc(0)
  for await (const chunk of source) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    for (;;) {
      if (held.length < headLength) break
      const end = headLength + held.readUInt32BE(1)
      if (held.length < end) break
      const type = types.get(held.toString('latin1', 0, 1))
      if (type === undefined) throw damaged('it holds a frame of no known kind')
      yield { type, content: held.subarray(headLength, end) }
      held = held.subarray(end)
    }
  }
  if (held.length > 0) throw damaged('it ends inside a frame')
}

/** The content of a JSON frame. @throws BackupError when it is invalid. */
export function parseContent<T>(frame: Frame | undefined, type: FrameType, schema: z.ZodType<T>): T {
  if (frame?.type !== type) throw damaged(`there is ${frame?.type ?? 'nothing'} where ${type} is expected`)
  const parsed = schema.safeParse(readJson(frame.content.toString('utf8')))
  if (!parsed.success) throw damaged(`its ${type} is not what this release writes`)
  return parsed.data
}

/** Why a file with these first bytes cannot be read by this release; null when it can. */
function wrongFirstLine(bytes: Buffer): string | null {
  if (bytes.subarray(0, firstLine.length).equals(firstLine)) return null
  const [, version] = /^deskwire backup create (\d{1,9})\n/.exec(bytes.toString('latin1')) ?? []
  return version === undefined
    ? 'is not a backup of Deskwire'
    : `is a backup of format ${version}, and this release reads format ${formatVersion}: restore it with the release that made it, or a newer one`
}

function damaged(why: string): BackupError {
  return new BackupError(`the backup is not whole: ${why}; use another backup`)
}

/**
 * Writes a new file for its owner only. Returns its size in bytes. @throws BackupError when it exists or cannot be
 * written.
 */
export async function writeBackupFile(path: string, frames: () => AsyncIterable<Buffer>): Promise<number> {
  await requireAbsent(path)
  const unfinished = `${path}.${randomBytes(6).toString('hex')}.part`
  let size = 0
  async function* whole(compressed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const hash = createHash('sha256').update(firstLine)
    yield firstLine
    for await (const chunk of compressed) {
      hash.update(chunk)
      size += chunk.length
      yield chunk
    }
    yield hash.digest()
  }
  try {
    const file = createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true })
    await pipeline(frames, createZstdCompress(), whole, file)
    await requireAbsent(path)
    await rename(unfinished, path)
    await syncDirectory(dirname(resolve(path)))
    return firstLine.length + size + checksumLength
  } catch (error) {
    await rm(unfinished, { force: true })
    throw isOf(error, unfinished) ? new BackupError(`${path} cannot be written: ${error.message}`) : error
  }
}

async function requireAbsent(path: string): Promise<void> {
  const found = await lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw new BackupError(`${path} cannot be written: ${error.message}`)
    },
  )
  if (found)
    throw new BackupError(`${path} is there already: name a new file, a backup is never written over`)
}

/** @throws BackupError when the file is not a backup, or damaged. */
export async function verifyBackupFile(path: string): Promise<void> {
  await using file = await open(path).catch((error: Error) => {
    throw new BackupError(`${path} cannot be read: ${error.message}`)
  })
  const found = await file.stat()
  if (!found.isFile())
    throw new BackupError(`${path} is not a file: name one that deskwire backup create wrote`)
  const { size } = found
  const wrong = wrongFirstLine(await readAt(file, 0, Math.min(size, 64)))
  if (wrong !== null) throw new BackupError(`${path} ${wrong}`)
  const end = size - checksumLength
  const hash = createHash('sha256')
  if (end > firstLine.length) {
    for await (const chunk of createReadStream(path, { end: end - 1 })) hash.update(chunk as Buffer)
    if (hash.digest().equals(await readAt(file, end, checksumLength))) return
  }
  throw new BackupError(
    `${path} is cut short or damaged: its checksum is not that of its content; use another backup`,
  )
}

/** The frames of a file, once its checksum is verified. */
export function readBackupFile(path: string, size: number): AsyncGenerator<Frame> {
  const compressed = createReadStream(path, { start: firstLine.length, end: size - checksumLength - 1 })
  const frames = createZstdDecompress()
  // An error of one is also an error of the other, which is read.
  pipeline(compressed, frames).catch(() => {})
  return decodeFrames(frames as AsyncIterable<Buffer>)
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

function isOf(error: unknown, path: string): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && (!('path' in error) || error.path === path)
}
