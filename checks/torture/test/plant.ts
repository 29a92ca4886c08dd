/**
 * Plants faults: each turns a possible history into an impossible one. The lines alone decide where, without the
 * checker's own logic.
 */
import type { Line, Version } from '../history/format.ts'
import type { FaultSort } from '../history/verdict.ts'
import {
  finality,
  hashOf,
  held,
  isRemoval,
  isSame,
  knownElsewhere,
  later,
  pagesOf,
  placesOf,
  unchallenged,
  wasAcknowledged,
  without,
  withVersions,
} from './places.ts'

export interface Plant {
  /** One of these has to be found. */
  readonly sorts: readonly FaultSort[]
  /** The lines with the fault at a place that `pick` chooses; null where there is none. */
  plant(lines: readonly Line[], pick: Pick): Line[] | null
}

export type Pick = <T>(of: readonly T[]) => T | undefined

export const plants: Readonly<Record<string, Plant>> = {
  'a record that one follower never gets': {
    sorts: ['lost', 'unseen', 'checkpoint'],
    plant(lines, pick) {
      const isFinal = finality(lines)
      const place = pick(placesOf(lines).filter(({ version }) => !isRemoval(version) && isFinal(version)))
      return place === undefined ? null : without(lines, place.version, place.page.follower)
    },
  },
  'a removal that one follower never gets': {
    sorts: ['lost', 'unseen', 'checkpoint'],
    plant(lines, pick) {
      const place = pick(placesOf(lines).filter((one) => isRemoval(one.version) && held(lines, one)))
      return place === undefined ? null : without(lines, place.version, place.page.follower)
    },
  },
  'a record that is passed over once, and current then': {
    sorts: ['lost', 'unseen', 'checkpoint'],
    plant(lines, pick) {
      const [isUnchallenged, isKnownElsewhere] = [unchallenged(lines), knownElsewhere(lines)]
      const place = pick(
        placesOf(lines).filter(
          // Without its last record a page ends earlier, and the next one may have it.
          (one) =>
            one.at < one.page.versions.length - 1 &&
            !isRemoval(one.version) &&
            isKnownElsewhere(one) &&
            isUnchallenged(one.version, one.line),
        ),
      )
      return place === undefined
        ? null
        : withVersions(lines, place.line, place.page.versions.toSpliced(place.at, 1))
    },
  },
  'a page that is older than what was acknowledged': {
    sorts: ['unseen'],
    plant(lines, pick) {
      const isUnchallenged = unchallenged(lines)
      const place = pick(
        placesOf(lines).filter(
          (one) =>
            one.page.checkpoint !== null &&
            wasAcknowledged(lines, one) &&
            isUnchallenged(one.version, one.line),
        ),
      )
      return place === undefined ? null : withVersions(lines, place.line, [])
    },
  },
  'an acknowledged write that nobody has': {
    sorts: ['lost'],
    plant(lines, pick) {
      const isFinal = finality(lines)
      const told = lines.flatMap((line) =>
        line.does === 'told' && line.version !== undefined && isFinal(line.version) ? [line.version] : [],
      )
      const version = pick(told)
      return version === undefined ? null : without(lines, version, null)
    },
  },
  'an acknowledged removal that nobody has': {
    sorts: ['lost'],
    plant(lines, pick) {
      const removed = new Set(
        lines.flatMap((line) => (line.does === 'ask' && line.op === 'remove' ? [line.id] : [])),
      )
      const done = lines.flatMap((line) =>
        line.does === 'stored' ? line.versions.filter((one) => isRemoval(one) && removed.has(one[1])) : [],
      )
      const acknowledged = done.filter(([, id]) =>
        lines.some(
          (line) =>
            line.does === 'ask' &&
            line.op === 'remove' &&
            line.id === id &&
            lines.some((one) => one.does === 'told' && one.n === line.n && one.outcome === 'done'),
        ),
      )
      const version = pick(acknowledged)
      return version === undefined ? null : without(lines, version, null)
    },
  },
  'two records in the wrong order': {
    sorts: ['reordered'],
    plant(lines, pick) {
      const place = pick(placesOf(lines).filter(({ at }) => at > 0))
      if (place === undefined) return null
      const { line, at, page } = place
      const before = page.versions[at - 1] as Version
      return withVersions(lines, line, page.versions.with(at - 1, place.version).with(at, before))
    },
  },
  'a write stamped before one that it followed': {
    sorts: ['reordered'],
    plant(lines, pick) {
      const told = lines.flatMap((line) =>
        line.does === 'told' && line.version !== undefined ? [line.version] : [],
      )
      const [first] = told
      const version = pick(told.slice(told.length / 2))
      if (version === undefined || first === undefined) return null
      // A place of its own, just after the first of all.
      const moved = (one: Version): Version =>
        isSame(one, version) ? (one.with(2, first[2]) as unknown as Version) : one
      return lines.map((line) => {
        if (line.does === 'told' && line.version !== undefined)
          return { ...line, version: moved(line.version) }
        return line.does === 'page' || line.does === 'stored'
          ? { ...line, versions: line.versions.map(moved) }
          : line
      })
    },
  },
  'a record given twice': {
    sorts: ['repeated'],
    plant(lines, pick) {
      const place = pick(placesOf(lines).filter(({ version }) => !isRemoval(version)))
      if (place === undefined) return null
      const { line, at, page, version } = place
      return withVersions(lines, line, page.versions.toSpliced(at, 0, version))
    },
  },
  'a page given twice': {
    sorts: ['repeated', 'reordered'],
    plant(lines, pick) {
      const pages = pagesOf(lines).filter(({ page }) => page.versions.length > 0)
      const again = pick(pages)
      if (again === undefined) return null
      const { follower } = again.page
      const read: Line = { does: 'read', follower, from: 'next' }
      return lines.toSpliced(again.line + 1, 0, read, again.page)
    },
  },
  'an object that nobody made': {
    sorts: ['invented'],
    plant(lines, pick) {
      const place = pick(placesOf(lines))
      if (place === undefined) return null
      const { line, page, version } = place
      const id = version[1].replace(/^.{8}/, 'ffffffff')
      const by = pick(
        lines.flatMap((one) => (one.does === 'told' && one.version !== undefined ? [one.n] : [])),
      )
      const made: Version = [version[0], id, later(version[2]), hashOf(id), by ?? 0]
      return withVersions(lines, line, [...page.versions, made])
    },
  },
  'a version that nobody wrote': {
    sorts: ['invented'],
    plant(lines, pick) {
      const place = pick(
        placesOf(lines).filter(({ version }) => version[0] === 'customer' && !isRemoval(version)),
      )
      if (place === undefined) return null
      const { line, page, version } = place
      const [kind, id, at, , by] = version
      const used = lines.some(
        (one) => one.does === 'page' && one.versions.some((other) => other[2] === later(at)),
      )
      return used
        ? null
        : withVersions(lines, line, [...page.versions, [kind, id, later(at), hashOf(at), by]])
    },
  },
  'words of an ask that was refused': {
    sorts: ['invented'],
    plant(lines, pick) {
      const shown = new Set(
        lines.flatMap((line) =>
          line.does === 'page' || line.does === 'stored' ? line.versions.map(([, , , , by]) => by) : [],
        ),
      )
      const done = pick(
        lines.flatMap((line) =>
          line.does === 'told' && line.outcome === 'done' && shown.has(line.n) ? [line.n] : [],
        ),
      )
      return done === undefined
        ? null
        : lines.map((line) =>
            line.does === 'told' && line.n === done ? { does: 'told', n: done, outcome: 'refused' } : line,
          )
    },
  },
  'a removal that nobody asked for': {
    sorts: ['invented'],
    plant(lines, pick) {
      const place = pick(
        placesOf(lines).filter(
          ({ version }) =>
            version[0] === 'customer' &&
            !lines.some((line) => line.does === 'ask' && line.op === 'remove' && line.id === version[1]),
        ),
      )
      if (place === undefined) return null
      const { line, page, version } = place
      return withVersions(lines, line, [
        ...page.versions,
        ['customer', version[1], later(version[2]), hashOf('x'), null],
      ])
    },
  },
  'an object that is back after its removal': {
    sorts: ['invented'],
    plant(lines, pick) {
      const place = pick(placesOf(lines).filter(({ version }) => isRemoval(version)))
      if (place === undefined) return null
      const { line, page, version } = place
      const [kind, id, at] = version
      return withVersions(lines, line, [...page.versions, [kind, id, later(at), hashOf(at), 0]])
    },
  },
  'other bytes under the same time': {
    sorts: ['changed'],
    plant(lines, pick) {
      const places = placesOf(lines)
      const place = pick(
        places.filter(({ version }) => places.filter((other) => isSame(other.version, version)).length > 1),
      )
      if (place === undefined) return null
      const { line, at, page, version } = place
      return withVersions(
        lines,
        line,
        page.versions.with(at, version.with(3, hashOf('other')) as unknown as Version),
      )
    },
  },
  'a count that is not the copy': {
    sorts: ['checkpoint'],
    plant: (lines, pick) => withProof(lines, pick, ({ count, digest }) => ({ count: count + 1, digest })),
  },
  'a digest that is not the copy': {
    sorts: ['checkpoint'],
    plant: (lines, pick) =>
      withProof(lines, pick, ({ count, digest }) => ({
        count,
        digest: digest.replace(/.$/, (hex) => (hex === '0' ? '1' : '0')),
      })),
  },
  'a follower that is cut off': {
    sorts: ['unfinished'],
    plant(lines, pick) {
      const place = pick(pagesOf(lines).filter(({ page }) => page.checkpoint === null))
      if (place === undefined) return null
      const { follower } = place.page
      return lines.filter(
        (line, at) =>
          at <= place.line || !((line.does === 'page' || line.does === 'read') && line.follower === follower),
      )
    },
  },
}

function withProof(
  lines: readonly Line[],
  pick: Pick,
  other: (proof: { readonly count: number; readonly digest: string }) => { count: number; digest: string },
): Line[] | null {
  const place = pick(pagesOf(lines).filter(({ page }) => page.checkpoint !== null))
  if (place === undefined) return null
  const proofs = Object.entries(place.page.checkpoint ?? {})
  const proof = pick(proofs)
  if (proof === undefined) return null
  const checkpoint = { ...place.page.checkpoint, [proof[0]]: other(proof[1]) }
  return lines.with(place.line, { ...place.page, checkpoint })
}
