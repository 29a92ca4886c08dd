/** What `--every` repeats: a copy that is brought up to date and closed, or an export in a directory of its own. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, readdir, rename, rm, rmdir, stat, symlink } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import type { ExportManifest } from '@deskwire/mirror/ndjson'
import { CommandFailure } from '../failure.ts'
import { makeDirectory } from '../files.ts'
import { UsageError } from '../usage-error.ts'

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** Node's timers fire at once beyond it. */
const longest = 24 * units.d

/** Milliseconds. @throws UsageError */
export function readEvery(given: string): number {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(given) ?? []
  const ms = Number(count) * units[unit as keyof typeof units]
  if (ms > 0 && ms <= longest) return ms
  throw new UsageError(
    `--every: ${JSON.stringify(given)} is not accepted; write a whole number with s, m, h or d, up to 24d, such as 1h`,
  )
}

/** Of an export, the time at which it began. */
const named = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/
/** The last export, and the one before it, which readers may have open. */
const kept = 2

/**
 * Writes an export into a directory of its own in `parent`, and then lets the link `latest` point to it, so that
 * readers find all files of one export. What was loaded stays in `parent`, and the next export reads changes alone.
 * Modes are those of `parent`.
 */
export async function exportNext(
  parent: string,
  at: Date,
  write: (places: { readonly directory: string; readonly scratch: string }) => Promise<ExportManifest>,
): Promise<{ readonly directory: string; readonly manifest: ExportManifest }> {
  await makeDirectory(parent)
  const name = at.toISOString().replaceAll(/[:.]/g, '-')
  const directory = join(parent, name)
  const scratch = join(parent, '.deskwire-export')
  const manifest = await write({ directory, scratch }).catch(async (error) => {
    if (existsSync(directory) && !isWhole(directory)) await removeExport(directory)
    throw error
  })
  const { mode } = await stat(parent)
  for (const file of await readdir(directory)) await chmod(join(directory, file), mode & 0o666)
  await chmod(directory, mode & 0o777)
  const link = join(parent, '.deskwire-latest')
  await rm(link, { force: true })
  await symlink(name, link, 'dir')
  await rename(link, join(parent, 'latest'))
  const names = (await readdir(parent)).filter((one) => named.test(one)).sort()
  const all = names.map((one) => join(parent, one))
  const old = all.filter(isWhole).slice(0, -kept)
  // A process that was killed has left a part of an export.
  for (const one of [...old, ...all.filter((one) => !isWhole(one))]) await removeExport(one)
  return { directory, manifest }
}

const manifestName = 'manifest.json'
const isWhole = (directory: string) => existsSync(join(directory, manifestName))

/** Files of others stay, with their directory. */
async function removeExport(directory: string): Promise<void> {
  // First, so that what is left of an export is never taken for a whole one.
  await rm(join(directory, manifestName), { force: true })
  for (const file of await readdir(directory))
    if (/\.(ndjson|parquet)$|^\.deskwire-export\.json$/.test(file)) await rm(join(directory, file))
  await rmdir(directory).catch(() => {})
}

/** The user's command failed: with `--every` all is tried again. */
export class AfterFailed extends CommandFailure {}

/** Runs a command of the user in a shell; its output goes to standard error. @throws AfterFailed */
export async function runAfter(command: string, to: string, signal: AbortSignal): Promise<void> {
  const child = spawn(command, {
    shell: true,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, DESKWIRE_MIRROR: to },
  })
  const stop = () => child.kill()
  signal.addEventListener('abort', stop)
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (status, name) => resolve(status ?? 128 + (name ? constants.signals[name] : 0)))
    })
    if (code !== 0) throw new AfterFailed(`--after: the command failed with exit code ${code}.`)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
