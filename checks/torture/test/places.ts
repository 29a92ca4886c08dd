/** Places of versions in a history, and histories with changed versions. */
import { createHash } from 'node:crypto'
import type { Line, Page, Read, Version } from '../history/format.ts'

/** A record on a page. */
export interface Place {
  readonly line: number
  readonly at: number
  readonly page: Page
  readonly version: Version
}

export const pagesOf = (lines: readonly Line[]) =>
  lines.flatMap((page, line) => (page.does === 'page' ? [{ line, page }] : []))

export const placesOf = (lines: readonly Line[]): Place[] =>
  pagesOf(lines).flatMap(({ line, page }) =>
    page.versions.map((version, at) => ({ line, at, page, version })),
  )

/** The query of the page on this line. */
export function readBefore(
  lines: readonly Line[],
  { line, page }: Pick<Place, 'line' | 'page'>,
): Read | undefined {
  return lines
    .slice(0, line)
    .findLast((one): one is Read => one.does === 'read' && one.follower === page.follower)
}

/** Replaces versions wherever they occur. */
export function mapVersions(lines: readonly Line[], change: (version: Version) => Version): Line[] {
  return lines.map((line) => {
    if (line.does === 'told' && line.version !== undefined) return { ...line, version: change(line.version) }
    return line.does === 'page' || line.does === 'stored'
      ? { ...line, versions: line.versions.map(change) }
      : line
  })
}

/** Replaces the records of one page. */
export function withVersions(lines: readonly Line[], line: number, versions: readonly Version[]): Line[] {
  return lines.with(line, { ...(lines[line] as Page), versions })
}

/** Removes a version from one follower's pages or, with `null`, everywhere. */
export function without(lines: readonly Line[], gone: Version, follower: string | null): Line[] {
  const keep = (one: Version) => !isSame(one, gone)
  return lines.map((line) => {
    if (line.does === 'page' && (follower === null || line.follower === follower)) {
      return { ...line, versions: line.versions.filter(keep) }
    }
    return line.does === 'stored' && follower === null
      ? { ...line, versions: line.versions.filter(keep) }
      : line
  })
}

export const placeText = ([, id, at]: Version) => `${id} ${at}`
export const isSame = (a: Version, b: Version) => a[1] === b[1] && a[2] === b[2]
export const isRemoval = ([, , , , by]: Version) => by === null
export const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 13)
export const later = (at: string, milliseconds = 1) => new Date(Date.parse(at) + milliseconds).toISOString()

/** Whether a version is the last of its row. */
export function finality(lines: readonly Line[]): (version: Version) => boolean {
  const latest = new Map<string, string>()
  for (const line of lines) {
    if (line.does !== 'page' && line.does !== 'stored') continue
    for (const [, id, at] of line.versions) if (at > (latest.get(id) ?? '')) latest.set(id, at)
  }
  return ([, id, at]) => latest.get(id) === at
}

/** The versions on a line. */
const versionsOf = (line: Line): readonly Version[] => {
  if (line.does === 'told') return line.version === undefined ? [] : [line.version]
  return line.does === 'page' || line.does === 'stored' ? line.versions : []
}

/** Whether no request before a line could have replaced a version by then. */
export function unchallenged(lines: readonly Line[]): (version: Version, before: number) => boolean {
  // Also at other times, as the time of an unanswered request is unknown.
  const parents = new Map<string, Set<string>>()
  for (const [, id, , , , of = []] of lines.flatMap(versionsOf)) {
    parents.set(id, new Set([...(parents.get(id) ?? []), ...of]))
  }
  return ([, id, , , by], before) => {
    const about = new Set([id, ...(parents.get(id) ?? [])])
    const own = lines.findIndex((line) => line.does === 'ask' && line.n === by)
    // A request may take effect any time before its response.
    const isOver = (n: number) =>
      lines.slice(0, own).some((line) => line.does === 'told' && line.n === n && line.outcome !== 'unknown')
    return !lines
      .slice(0, before)
      .some(
        (line, at) =>
          line.does === 'ask' &&
          at !== own &&
          (about.has(line.id ?? '') || about.has(line.touches ?? '')) &&
          (at > own || !isOver(line.n)),
      )
  }
}

/** Whether a version occurs elsewhere too: an unknown one cannot be missed. */
export function knownElsewhere(lines: readonly Line[]): (place: Place) => boolean {
  const seen = new Map<string, Set<number>>()
  lines.forEach((line, at) => {
    for (const version of versionsOf(line)) {
      const text = placeText(version)
      seen.set(text, (seen.get(text) ?? new Set()).add(at))
    }
  })
  return ({ version }) => (seen.get(placeText(version))?.size ?? 0) > 1
}

/** Whether a version was acknowledged before its page was requested. */
export function wasAcknowledged(lines: readonly Line[], { line, page, version }: Place): boolean {
  const asked = lines.findLastIndex(
    (one, at) => at < line && one.does === 'read' && one.follower === page.follower,
  )
  return lines
    .slice(0, asked)
    .some((one) => one.does === 'told' && versionsOf(one).some((told) => isSame(told, version)))
}

/** Whether the follower got an earlier version of a row, in its only copy. */
export function held(lines: readonly Line[], { page, line, version }: Place): boolean {
  const starts = lines.filter(
    (one) => one.does === 'read' && one.follower === page.follower && one.from === 'start',
  )
  return (
    starts.length === 1 &&
    pagesOf(lines).some(
      (earlier) =>
        earlier.line < line &&
        earlier.page.follower === page.follower &&
        earlier.page.versions.some((one) => one[1] === version[1]),
    )
  )
}
