/** Backup files: renamed when everything is on the disk, so that they are complete; read only after the checksum is verified. */
import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { syncDirectory } from '@deskwire/embedded-postgres'
import { BackupError, checksumLength, decodeFrames, type Frame, firstLine, wrongFirstLine } from './format.ts'

/** Writes a new file for its owner only. Returns its size in bytes. @throws BackupError when it exists or cannot be written. */
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
