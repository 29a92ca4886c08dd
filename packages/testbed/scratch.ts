/**
 * Where a run stores its files: in memory, where there is enough. Cloning and dropping databases creates and removes
 * hundreds of files, which took half of the CPU time of such tests on ext4.
 */
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** In bytes; a run needs a third of it at most. */
const plenty = 6 * 1024 ** 3

interface Scratch extends AsyncDisposable {
  /** Short, as it has paths of sockets, and open to every user, as tests run programs as several. */
  readonly path: string
}

/** Removed with its content when the run is over. */
export async function scratchDirectory(): Promise<Scratch> {
  const path = (await inMemory()) ?? (await openDirectory('/tmp'))
  return { path, [Symbol.asyncDispose]: () => remove(path) }
}

/** Null where there is little memory for files, as in most containers, or programs cannot run from there. */
async function inMemory(): Promise<string | null> {
  const path = await openDirectory('/dev/shm').catch(() => null)
  if (path === null) return null
  try {
    const { bavail, bsize } = await statfs(path)
    const room = Math.min(bavail * bsize, process.availableMemory())
    const program = join(path, 'program')
    await writeFile(program, '#!/bin/sh\n', { mode: 0o755 })
    await promisify(execFile)(program)
    if (room >= plenty) return path
  } catch {
    // Mounted noexec.
  }
  await remove(path)
  return null
}

async function openDirectory(parent: string): Promise<string> {
  const path = await mkdtemp(join(parent, 'dw-'))
  await chmod(path, 0o1777)
  return path
}

function remove(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
}
