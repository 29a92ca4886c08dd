/**
 * Exports of a moment: a file a kind of everything that the key may read, all as of one place in the stream, and a manifest that says
 * which and proves them. An export is made in a scratch store beside the files, by a mirror; broken off at any instant, it goes
 * on from there when it is made again.
 */
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '@deskwire/sdk'
import { Copy } from './copy.ts'
import { MirrorError } from './error.ts'
import { type LoadProgress, Mirror, type Trouble } from './mirror.ts'
import type { Store, StoreReader, Table } from './store.ts'
import type { SumsText } from './sums.ts'

export interface ExportOptions {
  readonly client: Client
  /** Where the files are to be; it is made if it is not there. Files of an earlier export are replaced, once those of this one are whole. */
  readonly directory: string
  /** Called while rows are loaded, and when something is waited out or mended: as of a `Mirror`. */
  readonly onLoaded?: (progress: LoadProgress) => void
  readonly onTrouble?: (trouble: Trouble) => void
  readonly signal?: AbortSignal | undefined
}

/** What `manifest.json` says. It is there exactly if the files are whole, and all of one export. */
export interface ExportManifest {
  readonly object: 'export'
  readonly organizationId: string
  /** Where a sync of all kinds goes on (specification 7.7). */
  readonly cursor: string
  /** By kind, what the service says of its rows at that place too (specification 7.8). */
  readonly checkpoint: Readonly<Record<string, SumsText>>
  /** By kind, the name of the file in the directory. */
  readonly files: Readonly<Record<string, string>>
}

/** How one sort of file is written. */
export interface ExportForm {
  /** The ending of a file's name. */
  readonly ending: string
  /** The scratch store, in this file. */
  readonly store: (file: string) => Store
  /** Writes the rows of these tables, each into its file. */
  readonly write: (
    tables: readonly { readonly table: Table; readonly file: string }[],
    at: StoreReader,
    scratch: string,
  ) => Promise<void>
}

const scratchName = '.deskwire-export'

/** Makes an export. Throws as `Mirror.catchUp` does, and leaves what it has loaded for the next attempt. */
export async function exportMoment(form: ExportForm, options: ExportOptions): Promise<ExportManifest> {
  const { client, directory, signal, ...told } = options
  await mkdir(directory, { recursive: true })
  const scratch = join(directory, scratchName)
  const store = form.store(scratch)
  const mirror = new Mirror({ client, store, ...told })
  let manifest: ExportManifest
  try {
    await mirror.catchUp({ signal })
    manifest = await store.read((at) => writeParts(form, options, store, at, scratch))
  } finally {
    await mirror.close()
  }
  // From here to its end there is no manifest: files of two exports are never taken for one.
  const place = join(directory, 'manifest.json')
  await rm(place, { force: true })
  for (const file of Object.values(manifest.files)) {
    await rename(join(directory, partOf(file)), join(directory, file))
  }
  await writeFile(`${place}.part`, `${JSON.stringify(manifest, null, 2)}\n`)
  await rename(`${place}.part`, place)
  for (const ending of ['', '-wal', '-shm', '.wal']) await rm(scratch + ending, { force: true })
  return manifest
}

const partOf = (file: string) => `${file}.part`

async function writeParts(
  form: ExportForm,
  { client, directory }: ExportOptions,
  store: Store,
  at: StoreReader,
  scratch: string,
): Promise<ExportManifest> {
  const copy = await Copy.noted('live', { client, store, marksRemovals: false, now: Date.now }, at)
  if (copy === undefined) throw new MirrorError(`The copy is gone from ${scratch}. Begin again.`)
  const files = Object.fromEntries(
    [...copy.tables].map(([kind, { name }]) => [kind, `${name}.${form.ending}`]),
  )
  const tables = [...copy.tables].map(([kind, table]) => ({
    table,
    file: join(directory, partOf(files[kind] ?? '')),
  }))
  await form.write(tables, at, scratch)
  for (const { file } of tables) await synced(file)
  const checkpoint = Object.fromEntries([...copy.tables.keys()].map((kind) => [kind, copy.sumsOf(kind).text]))
  return { object: 'export', organizationId: copy.organizationId, cursor: copy.cursor, checkpoint, files }
}

/** Has the file's bytes on the disk before its name says that they are there. */
async function synced(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
