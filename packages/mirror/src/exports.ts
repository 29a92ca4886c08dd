/**
 * Exports: a file for each kind with everything that the key may read, all at one position of the stream, and a
 * manifest that proves them. A mirror loads a scratch store beside the files; an interrupted export goes on from
 * there.
 */

import { lstat, mkdir, open, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Client } from '@deskwire/sdk'
import { readJson } from '@deskwire/sdk/json'
import { Copy, endOf, type QuarantinedRow } from './copy.ts'
import { MirrorError } from './error.ts'
import { directoryMode, fileMode, makeDirectory } from './files.ts'
import { type LoadProgress, Mirror, type Trouble } from './mirror.ts'
import { kindsOf } from './schema.ts'
import { Chooser, type Selection } from './select.ts'
import { type Store, type StoreReader, StoreUnavailable, sentences, type Table } from './store.ts'
import type { SumsText } from './sums.ts'

export interface ExportOptions {
  readonly client: Client
  /**
   * The directory of the files, created if missing. Files of an earlier export, as its manifest lists them, are
   * replaced when the new ones are complete; other files stay, and one with the name of an export's file is refused.
   */
  readonly directory: string
  /**
   * A directory on the same file system that keeps what was loaded, so that the next export with it reads changes
   * alone.
   */
  readonly scratch?: string
  /** As of a `Mirror`: what the files hold. */
  readonly select?: Selection | undefined
  readonly hashKey?: string | undefined
  /** As of a `Mirror`. */
  readonly onLoaded?: (progress: LoadProgress) => void
  readonly onTrouble?: (trouble: Trouble) => void
  readonly signal?: AbortSignal | undefined
}

/** The content of `manifest.json`, which exists only if the files are complete, and all of one export. */
export interface ExportManifest {
  readonly object: 'export'
  readonly organizationId: string
  /** Where a sync of all kinds goes on (specification 7.7). */
  readonly cursor: string
  /**
   * By kind, the service's checkpoint at that position (specification 7.8); `contentDigest` is of the lines where
   * fields were left out.
   */
  readonly checkpoint: Readonly<Record<string, SumsText>>
  readonly files: Readonly<Record<string, string>>
  /** What the files hold of the desk, if not all. */
  readonly selection?: Selection
  /** Rows that the files cannot hold, if any: the checkpoint counts them. */
  readonly quarantined?: readonly QuarantinedRow[]
}

/** A table, its file, and its rows that the scratch store cannot hold. */
export interface ExportPart {
  readonly table: Table
  readonly file: string
  readonly quarantined: readonly QuarantinedRow[]
}

interface ExportForm {
  readonly ending: string
  /** Whether the files have the texts of rows, and so hold all of them. */
  readonly hasTexts: boolean
  readonly store: (file: string) => Store
  readonly write: (parts: readonly ExportPart[], at: StoreReader, scratch: string) => Promise<void>
}

const scratchName = '.deskwire-export'
const manifestName = 'manifest.json'

/** Throws as `Mirror.catchUp` does, and keeps what it has loaded for the next attempt. */
export async function exportMoment(form: ExportForm, options: ExportOptions): Promise<ExportManifest> {
  const { client, directory, signal } = options
  await makeDirectory(directory)
  const [{ kinds }, declared] = [await endOf(client, signal), kindsOf(await client.document({ signal }))]
  // Before anything is loaded, and again when it is.
  await requireOwn(
    directory,
    kinds.flatMap((kind) => {
      const { plural = '' } = declared.get(kind) ?? {}
      return new Chooser(options.select).keeps(plural) ? nameOf(plural, form) : []
    }),
  )
  const scratch = options.scratch ?? join(directory, scratchName)
  await mkdir(scratch, { mode: directoryMode }).catch(async (error) => {
    if (!(await lstat(scratch)).isDirectory()) throw error
  })
  try {
    return await writeExport(form, options, scratch)
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    const next =
      'Look at the space and the permissions of the directory, and whether its disk or share answers.'
    throw new StoreUnavailable(sentences(directory, error, next), { cause: error })
  }
}

async function writeExport(
  form: ExportForm,
  options: ExportOptions,
  scratch: string,
): Promise<ExportManifest> {
  const { client, directory, signal, scratch: lasting, ...told } = options
  const file = join(scratch, form.ending)
  const store = form.store(file)
  const mirror = new Mirror({ client, store, ...told })
  let manifest: ExportManifest
  try {
    await mirror.catchUp({ signal })
    manifest = await store.read((at) => writeParts(form, options, store, at, file))
  } finally {
    await mirror.close()
  }
  const place = join(directory, manifestName)
  const names = Object.values(manifest.files)
  const own = await requireOwn(directory, names)
  const noted = join(directory, ownName)
  await writeFile(noted, JSON.stringify([...own, ...names, manifestName]), { mode: fileMode, flush: true })
  const mode = await modeOf(place)
  // From here to the end there is no manifest, so that files of two exports are never taken for one.
  await rm(place, { force: true })
  for (const name of names) await rename(join(scratch, name), join(directory, name))
  const part = join(scratch, manifestName)
  await writeFile(part, `${JSON.stringify(manifest, null, 2)}\n`, { mode: fileMode })
  await settle(part, mode)
  await rename(part, place)
  await rm(noted)
  if (lasting !== undefined) return manifest
  for (const ending of ['-wal', '-shm', '.wal', '']) await rm(file + ending, { force: true })
  // Unknown files stay there.
  await rmdir(scratch).catch(() => {})
  return manifest
}

/** While the files of an export are replaced: their names. */
const ownName = '.deskwire-export.json'

const nameOf = (plural: string, { ending }: ExportForm) => (plural === '' ? [] : [`${plural}.${ending}`])

/** The files in the directory that are an export's. @throws MirrorError when one that is to be written is not. */
async function requireOwn(directory: string, names: readonly string[]): Promise<Set<string>> {
  const manifest = (await parsed(join(directory, manifestName))) as Partial<ExportManifest> | undefined
  const noted = await parsed(join(directory, ownName))
  const own = new Set<string>(Array.isArray(noted) ? noted : [])
  if (manifest?.object === 'export')
    for (const name of [manifestName, ...Object.values(manifest.files ?? {})]) own.add(name)
  for (const name of [...names, manifestName]) {
    const path = join(directory, name)
    if (own.has(name) || (await lstat(path).catch(() => undefined)) === undefined) continue
    throw new MirrorError(
      `${path} is not of an export, and nothing was changed. Move it away, or give the export a directory of its own.`,
    )
  }
  return own
}

async function parsed(path: string): Promise<unknown> {
  try {
    return readJson(await readFile(path, 'utf8'))
  } catch {
    return undefined
  }
}

async function modeOf(path: string): Promise<number> {
  return (await lstat(path).catch(() => undefined))?.mode ?? fileMode
}

async function writeParts(
  form: ExportForm,
  { client, directory }: ExportOptions,
  store: Store,
  at: StoreReader,
  scratch: string,
): Promise<ExportManifest> {
  const copy = await Copy.noted('live', { client, store, marksRemovals: false, now: Date.now }, at)
  if (copy === undefined) throw new MirrorError(`The copy is gone from ${scratch}. Begin again.`)
  const files: Record<string, string> = {}
  const parts: ExportPart[] = []
  for (const [kind, table] of copy.tables) {
    const name = `${table.name}.${form.ending}`
    files[kind] = name
    const file = join(dirname(scratch), name)
    parts.push({ table, file, quarantined: await copy.quarantined(at, kind) })
  }
  await form.write(parts, at, scratch)
  for (const { file } of parts) await settle(file, await modeOf(join(directory, basename(file))))
  const checkpoint = Object.fromEntries([...copy.tables.keys()].map((kind) => [kind, copy.sumsOf(kind).text]))
  const { organizationId, cursor } = copy
  const lacking = form.hasTexts ? [] : parts.flatMap(({ quarantined }) => quarantined)
  return {
    object: 'export',
    organizationId,
    cursor,
    checkpoint,
    files,
    ...(copy.selection && { selection: copy.selection }),
    ...(lacking.length > 0 && { quarantined: lacking }),
  }
}

/** Syncs the file before it gets its final name. */
async function settle(file: string, mode: number): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    await handle.chmod(mode & 0o777)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
