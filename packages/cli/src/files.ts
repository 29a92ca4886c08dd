/** Files that commands write: for their user alone, whole or not at all, and never over a file of others. */
import { randomBytes } from 'node:crypto'
import { chmod, link, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The modes of a new file and of a new directory. */
export const [fileMode, directoryMode] = [0o600, 0o700] as const

/** Makes a directory and those above it. Node's own recursion never ends below /proc, where nothing can be made. */
export async function makeDirectory(path: string): Promise<void> {
  const make = () =>
    mkdir(path, { mode: directoryMode }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  await make().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || dirname(path) === path) throw error
    await makeDirectory(dirname(path))
    await make()
  })
}

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

/** Makes the file where there is none. Of several processes one wins. @returns what it holds then. */
export async function writeOnce(path: string, text: string): Promise<string> {
  const part = partOf(path)
  try {
    await writeFile(part, text, { mode: fileMode, flag: 'wx' })
    await link(part, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(part, { force: true })
  }
  return await readFile(path, 'utf8')
}

/** What the file holds; null where there is none. */
export async function readIfThere(path: string): Promise<string | null> {
  return await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}

/** Longer than the last line of an export. */
const tailBytes = 4_096

/** Whether the last line of a file is that of `deskwire export`. */
export async function endsAsExport(path: string): Promise<boolean> {
  await using file = await open(path)
  const { size } = await file.stat()
  const { buffer, bytesRead } = await file.read(
    Buffer.alloc(tailBytes),
    0,
    tailBytes,
    Math.max(0, size - tailBytes),
  )
  const last = buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n').at(-1)
  return last?.startsWith('{"object":"export_end",') === true
}
