/** What a person sees of a copy: a bar while it is loaded, on a terminal, and a line for whatever happens. */
import type {
  AppliedPage,
  CopyDifference,
  LoadProgress,
  MirrorStatus,
  QuarantinedRow,
  Trouble,
} from '@deskwire/mirror'
import { barOf, count, rowsText } from '../import/show.ts'
import { table } from '../table.ts'
import { plain, type Screen } from '../terminal.ts'

/** Differences that are shown one by one; `--json` has them all. */
const toldDifferences = 20

interface LoadBar {
  update(progress: LoadProgress): void
  /** Takes the bar away. */
  end(): void
}

/** `now` in milliseconds. Off a terminal there is no bar. */
export function createLoadBar(output: Screen, now: () => number): LoadBar {
  let first: { readonly at: number; readonly rows: number } | undefined
  return {
    update(progress) {
      // What was loaded before this run says nothing of its speed.
      first ??= { at: now(), rows: progress.rows }
      if (!output.isTTY) return
      const perSecond = (progress.rows - first.rows) / Math.max(0.001, (now() - first.at) / 1_000)
      output.line(loadText(progress, perSecond))
    },
    end: () => output.line(''),
  }
}

/** `[######··········]  37 %  370,000 of 1,000,000 rows, 81,200/s, 8 s left`. */
export function loadText({ rows, total }: LoadProgress, perSecond: number): string {
  const left = perSecond > 0 ? `, ${duration(Math.max(0, total - rows) / perSecond)} left` : ''
  return `${barOf(rows, total)}  ${count(rows)} of ${count(total)} rows, ${count(Math.round(perSecond))}/s${left}`
}

/** `8 s`, `3 min 20 s`, `2 h 5 min`. */
function duration(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`
}

/** `2026-01-31T09:30:00.123Z  2 tickets, 1 customer`: a batch that was taken in. */
export function batchText({ changes, asOf }: AppliedPage): string {
  const kinds = Object.entries(changes).map(([kind, n]) => `${count(n)} ${kind}${n === 1 ? '' : 's'}`)
  return plain(`${asOf}  ${kinds.join(', ')}`)
}

/** A line for a failure that is waited out, a copy that is begun anew, or a repair. */
export function troubleText(trouble: Trouble): string {
  switch (trouble.type) {
    case 'unavailable':
      return `${trouble.error.message} Trying again in ${(trouble.pauseMs / 1_000).toFixed(1)} s.`
    case 'restored':
      return 'The service went back to a backup: a new copy is built beside this one, and takes its place when it is whole.'
    case 'rebuilt':
      return 'The service has new fields, and the copy has no _body to fill them from: a new copy is built beside this one.'
    case 'repaired':
      return `The copy did not add up to the service's checkpoint, or did not hold as many rows: ${rowsText(trouble.differences.length)} repaired.`
    case 'quarantined':
      return `Quarantined, as the store cannot hold it: ${trouble.kind} ${trouble.id}: ${trouble.reason}.`
  }
}

/** A line for the whole copy, and a table of its kinds. */
export function statusText(place: string, status: MirrorStatus): string {
  const { lagSeconds, isLoading, quarantined, kinds } = status
  const lag =
    lagSeconds === null
      ? 'has not matched the service yet'
      : `last matched the service ${duration(lagSeconds)} ago`
  const parts = [
    lag,
    ...(isLoading ? ['is loading'] : []),
    ...(quarantined ? [`${rowsText(quarantined)} quarantined`] : []),
  ]
  const proof = ({ verifiedAt, exact }: MirrorStatus['kinds'][number]) =>
    verifiedAt === null ? 'never' : `${exact ? 'exact' : 'differs'} ${verifiedAt}`
  const rows = kinds.map((of) => [of.kind, count(of.rows), of.lastChangeAt ?? '', proof(of)])
  return `${plain(`The copy in ${place} ${parts.join('; ')}`)}\n${table([['kind', 'rows', 'last change', 'verified'], ...rows])}`
}

/** What differs, a line a row. */
export function differencesText(differences: readonly CopyDifference[]): string {
  const lines = differences
    .slice(0, toldDifferences)
    .map(
      ({ kind, id, type, columns }) =>
        `${plain(`${kind} ${id === '' ? 'that was removed' : id}  ${type}${columns.length === 0 ? '' : `: ${columns.join(', ')}`}`)}\n`,
    )
  const more = differences.length - toldDifferences
  return `${lines.join('')}${more > 0 ? `and ${count(more)} more: --json has all\n` : ''}`
}

/** Rows that the store cannot hold, a line each, and what becomes of them; nothing where there are none. */
export function quarantineText(rows: readonly QuarantinedRow[]): string {
  if (rows.length === 0) return ''
  const lines = rows
    .slice(0, toldDifferences)
    .map(({ kind, id, reason }) => `${plain(`${kind} ${id}  quarantined: ${reason}`)}\n`)
  return `${lines.join('')}${rowsText(rows.length)} quarantined: the tables lack what the store cannot hold, until it changes or is removed\n`
}
