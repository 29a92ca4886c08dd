/** `deskwire import` of an export: what it says, and what it exits with. */
import { clientOf, type Target } from '../../client.ts'
import { CommandFailure, exitCodes } from '../../failure.ts'
import { plurals } from '../../kinds.ts'
import { printError, printOut, screen } from '../../terminal.ts'
import { interruption } from '../import-file.ts'
import { noCounts } from '../progress.ts'
import type { Reject } from '../rejects.ts'
import { patience } from '../send.ts'
import { count, createShow, rowsText } from '../show.ts'
import { type ExportedKind, openExport } from './exported.ts'
import { type Comparison, rehearse, requireAnother, Transfer, type Transferred } from './transfer.ts'

/** Lines that are named of each sort. */
const shownLines = 10

/** Moves the export at `path`, or with no target only says what of it would be rejected. */
export async function runTransfer(path: string, target: Target | null, json: boolean): Promise<void> {
  const begun = performance.now()
  const exported = await openExport(path)
  const total = exported.reduce((sum, { count: rows }) => sum + rows, 0)
  const show = createShow(screen, { total, done: 0, now: () => performance.now() })
  let [before, rejected] = [0, 0]
  const onProgress = ({ plural }: ExportedKind['kind'], rows: number, rejects: readonly Reject[]) => {
    rejected += rejects.length
    const named = rejects.map((one) => ({ ...one, error: `${plural}: ${one.error}` }))
    show.update({ ...noCounts, rows: before + rows, rejected }, named)
  }
  if (target === null) {
    for (const one of exported) {
      await rehearse(one, onProgress)
      before += one.count
    }
    show.end()
    const summary = { path, dryRun: true, rows: total, rejected }
    printOut(
      json
        ? `${JSON.stringify(summary)}\n`
        : `${rowsText(total)} checked, ${count(rejected)} would be rejected\n`,
    )
    if (rejected > 0) process.exitCode = exitCodes.found
    return
  }
  const client = clientOf(target, { retries: patience })
  const signal = interruption()
  const organizationId = await requireAnother(client, exported)
  const transfer = new Transfer({ client, organizationId, signal, onProgress })
  try {
    const done: Transferred[] = []
    for (const one of exported) {
      done.push(await transfer.take(one))
      before += one.count
    }
    await transfer.finish()
    show.end()
    const compared: Comparison[] = []
    for (const one of exported) compared.push(await transfer.compare(one))
    const seconds = Number(((performance.now() - begun) / 1_000).toFixed(1))
    printOut(
      json
        ? `${JSON.stringify(summaryOf(path, done, compared, seconds))}\n`
        : textOf(done, compared, seconds),
    )
    if (!compared.every(isExact)) process.exitCode = exitCodes.found
  } catch (error) {
    if (signal.aborted)
      throw new CommandFailure(
        'interrupted: run the same command again to go on; it sends what is missing',
        exitCodes.interrupted,
      )
    printError('deskwire: run the same command again to go on; it sends what is missing\n')
    throw error
  } finally {
    show.end()
  }
}

function isExact({ rows, found, digest, foundDigest }: Comparison): boolean {
  return rows === found && digest === foundDigest
}

function summaryOf(
  path: string,
  done: readonly Transferred[],
  compared: readonly Comparison[],
  seconds: number,
) {
  const all = compared.map(({ kind, ...one }, n) => {
    const { created = 0, rejected = 0, rejects = null } = done[n] ?? {}
    return [kind.plural, { ...one, created, rejected, rejects }]
  })
  const kindsMoved = Object.fromEntries(all)
  return { path, exact: compared.every(isExact), kinds: kindsMoved, notExported: notIn(compared), seconds }
}

/** The kinds that the export does not have. */
function notIn(compared: readonly Comparison[]): string[] {
  return plurals.filter((plural) => !compared.some(({ kind }) => kind.plural === plural))
}

function textOf(done: readonly Transferred[], compared: readonly Comparison[], seconds: number): string {
  const lines = compared.flatMap((one, n) => {
    const { kind, rows, found, digest, foundDigest, missing, different, others } = one
    const { created = 0, rejects = null } = done[n] ?? {}
    const exact = isExact(one)
    const state = exact ? `exact, content digest ${digest}` : `content digest ${foundDigest}, not ${digest}`
    const more = others === 0 ? '' : `; ${rowsText(others)} of others there`
    return [
      `${kind.plural}: ${count(found)} of ${rowsText(rows)} there, ${count(created)} created now; ${state}${more}`,
      ...named('missing', missing),
      ...named('different', different),
      ...(rejects === null ? [] : [`  rejected, with the reason: ${rejects}`]),
    ]
  })
  const lacking = notIn(compared)
  if (lacking.length > 0) lines.push(`Not in the export: ${lacking.join(', ')}.`)
  const end = compared.every(isExact)
    ? `All of it is there, in ${seconds} s.`
    : 'Not all of it is there. What changed after it was moved is not changed again: correct it by hand, or move into a new organization. Run the command again for what is missing.'
  return `${[...lines, end].join('\n')}\n`
}

function named(what: string, lines: readonly number[]): string[] {
  if (lines.length === 0) return []
  const more = lines.length > shownLines ? ` and ${count(lines.length - shownLines)} more` : ''
  return [`  ${what}: line ${lines.slice(0, shownLines).join(', ')}${more} of its file`]
}
