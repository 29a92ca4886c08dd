/** Where in a history something stands, and the same history with something else there. */
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

/** What the page of this line had been asked for with. */
export function readBefore(
  lines: readonly Line[],
  { line, page }: Pick<Place, 'line' | 'page'>,
): Read | undefined {
  return lines
    .slice(0, line)
    .findLast((one): one is Read => one.does === 'read' && one.follower === page.follower)
}

/** The lines with another version wherever one is told of, shown or stored. */
export function mapVersions(lines: readonly Line[], change: (version: Version) => Version): Line[] {
  return lines.map((line) => {
    if (line.does === 'told' && line.version !== undefined) return { ...line, version: change(line.version) }
    return line.does === 'page' || line.does === 'stored'
      ? { ...line, versions: line.versions.map(change) }
      : line
  })
}

/** The lines with other records on one page. */
export function withVersions(lines: readonly Line[], line: number, versions: readonly Version[]): Line[] {
  return lines.with(line, { ...(lines[line] as Page), versions })
}

/** The lines without a version, on the pages of one follower, or with `null` wherever it is. */
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

/** Says whether a version is the last of its row. */
export function finality(lines: readonly Line[]): (version: Version) => boolean {
  const latest = new Map<string, string>()
  for (const line of lines) {
    if (line.does !== 'page' && line.does !== 'stored') continue
    for (const [, id, at] of line.versions) if (at > (latest.get(id) ?? '')) latest.set(id, at)
  }
  return ([, id, at]) => latest.get(id) === at
}

/** The versions that a line tells of, shows or stores. */
const versionsOf = (line: Line): readonly Version[] => {
  if (line.does === 'told') return line.version === undefined ? [] : [line.version]
  return line.does === 'page' || line.does === 'stored' ? line.versions : []
}

/** Says whether nothing that anybody had asked for before a line could have replaced a version by then. */
export function unchallenged(lines: readonly Line[]): (version: Version, before: number) => boolean {
  // What a row belongs to at other times too: of an ask without an answer nobody knows at which it came.
  const parents = new Map<string, Set<string>>()
  for (const [, id, , , , of = []] of lines.flatMap(versionsOf)) {
    parents.set(id, new Set([...(parents.get(id) ?? []), ...of]))
  }
  return ([, id, , , by], before) => {
    const about = new Set([id, ...(parents.get(id) ?? [])])
    const own = lines.findIndex((line) => line.does === 'ask' && line.n === by)
    // What was asked earlier can be done later, until its answer says that it was.
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

/** Says whether a version is told of, shown or stored elsewhere too: what nobody knows of, nobody can miss. */
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

/** Whether its writer had been told of a version before its page was asked for. */
export function wasAcknowledged(lines: readonly Line[], { line, page, version }: Place): boolean {
  const asked = lines.findLastIndex(
    (one, at) => at < line && one.does === 'read' && one.follower === page.follower,
  )
  return lines
    .slice(0, asked)
    .some((one) => one.does === 'told' && versionsOf(one).some((told) => isSame(told, version)))
}

/** Whether the follower was shown an earlier version of a row, in its one and only copy. */
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
