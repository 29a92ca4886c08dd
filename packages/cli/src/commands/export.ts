import { createWriteStream } from 'node:fs'
import { chmod, lstat, rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Change, Checkpoint, Row } from '@deskwire/sdk'
import { clientFlags, clientHelp, clientOf, requireTarget } from '../client.ts'
import type { Command } from '../command.ts'
import { CommandFailure } from '../failure.ts'
import { endsAsExport, fileMode, partOf } from '../files.ts'
import { parseFlags } from '../flags.ts'
import { bulkOf, kindNamed, plurals, recordOf } from '../kinds.ts'
import { printOut, visible } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

export const exportCommand: Command = {
  help: () => `deskwire export KIND: write every row as a line of JSON, oldest change first, and prove that none is missing.

  KIND                   one of ${plurals.join(', ')}
  --out FILE             write to a file, which is there once it is whole; otherwise to standard output. An earlier export is replaced,
                         and no other file
  --json                 with --out: print the summary as one JSON object
${clientHelp}
The last line, {"object":"export_end",…}, has the cursor with which a sync goes on, and the checkpoint that the rows were
held against. A row that changes meanwhile stands a second time, further down; one that is removed, as {"object":"removed",…}.

Exit codes: 0 when it is whole and proved; 1 when it broke off, or did not add up, and there is no FILE; 2 for a wrong command
line.

Example:
  deskwire export tickets --out tickets.ndjson --url http://127.0.0.1:8080/v1 --key dwk_…
`,
  words: () => plurals,
  async run(args) {
    const { texts, switches, words } = parseFlags(args, {
      texts: ['out', ...clientFlags],
      switches: ['json'],
      words: 1,
    })
    const [plural] = words
    if (plural === undefined) throw new UsageError(`export needs a kind; there are: ${plurals.join(', ')}`)
    if (switches.json && texts.out === undefined) throw new UsageError('--json needs --out as well')
    const kind = kindNamed(plural)
    const rows = bulkOf(clientOf(requireTarget('export', texts)), kind).export()
    const lines = linesOf(rows)
    if (texts.out === undefined) {
      await print(lines)
      return
    }
    await writeWhole(texts.out, lines)
    const end = { cursor: rows.cursor, checkpoint: rows.checkpoint as Checkpoint }
    const { count, digest } = end.checkpoint
    printOut(
      switches.json
        ? `${JSON.stringify({ file: texts.out, kind: plural, ...end })}\n`
        : `${count} ${plural} in ${texts.out}, proved by digest ${digest}\n`,
    )
  },
}

/** The lines of an export; the last one is there only if it is proved. */
async function* linesOf(
  rows: AsyncIterable<Change<Row>> & { readonly cursor: string | undefined; readonly checkpoint: unknown },
): AsyncGenerator<string> {
  for await (const change of rows) yield `${JSON.stringify(recordOf(change))}\n`
  const end = { object: 'export_end', nextCursor: rows.cursor, checkpoint: rows.checkpoint }
  yield `${JSON.stringify(end)}\n`
}

async function* lineByLine(
  lines: AsyncIterable<string>,
  change: (line: string) => string,
): AsyncGenerator<string> {
  for await (const line of lines) yield change(line)
}

/** To standard output, whose reader may stop early. */
async function print(lines: AsyncIterable<string>): Promise<void> {
  const shown = process.stdout.isTTY ? lineByLine(lines, visible) : lines
  await pipeline(shown, process.stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

/** Writes beside the file and renames at the end, so that a part is never taken for the whole. */
async function writeWhole(path: string, lines: AsyncIterable<string>): Promise<void> {
  await modeToKeep(path)
  const part = partOf(path)
  try {
    await pipeline(lines, createWriteStream(part, { mode: fileMode, flags: 'wx', flush: true }))
    const mode = await modeToKeep(path)
    if (mode !== null) await chmod(part, mode)
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    if (isSystemError(error)) throw new CommandFailure(`${path} cannot be written: ${error.message}`)
    throw error
  }
}

/**
 * The mode of an earlier export, as its user may have shared it; null where there is none. @throws CommandFailure for
 * any other file.
 */
async function modeToKeep(path: string): Promise<number | null> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new CommandFailure(`${path} cannot be written: ${error.message}`)
  })
  if (found === null) return null
  if (found.isFile() && (await endsAsExport(path))) return found.mode & 0o777
  throw new CommandFailure(
    `${path} is there already, and is no export: give --out another name, or move it away`,
  )
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
