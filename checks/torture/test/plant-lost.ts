/** Faults of lost records: on first and last pages, after a resume, in cascades, at the end. */
import type { Line, Version } from '../history/format.ts'
import {
  finality,
  held,
  isRemoval,
  isSame,
  knownElsewhere,
  type Place,
  pagesOf,
  placesOf,
  readBefore,
  unchallenged,
  wasAcknowledged,
  without,
  withVersions,
} from './places.ts'
import type { Plant } from './plant.ts'

/** A current record, left out of one such page. */
function passedOver(isThere: (lines: readonly Line[], place: Place) => boolean): Plant {
  return {
    sorts: ['lost', 'unseen', 'checkpoint'],
    plant(lines, pick) {
      const [isUnchallenged, isKnownElsewhere] = [unchallenged(lines), knownElsewhere(lines)]
      const place = pick(
        placesOf(lines).filter(
          (one) =>
            // Without its last record a page ends earlier, and the next one may have it.
            (one.at < one.page.versions.length - 1 ||
              (one.page.checkpoint !== null && wasAcknowledged(lines, one))) &&
            !isRemoval(one.version) &&
            isThere(lines, one) &&
            isKnownElsewhere(one) &&
            isUnchallenged(one.version, one.line),
        ),
      )
      return place === undefined
        ? null
        : withVersions(lines, place.line, place.page.versions.toSpliced(place.at, 1))
    },
  }
}

/** A row in a follower's copy whose removal or change is never reported. */
function neverTold(is: (lines: readonly Line[]) => (version: Version) => boolean): Plant {
  return {
    sorts: ['lost', 'unseen', 'checkpoint'],
    plant(lines, pick) {
      const isFinal = finality(lines)
      const isOne = is(lines)
      const place = pick(
        placesOf(lines).filter((one) => isOne(one.version) && isFinal(one.version) && held(lines, one)),
      )
      return place === undefined ? null : without(lines, place.version, place.page.follower)
    },
  }
}

const isStart = (lines: readonly Line[], place: Place) => readBefore(lines, place)?.from === 'start'

/** Whether a removal removed or moved the row, without a request of its own. */
function wentWithCustomer(lines: readonly Line[]): (version: Version) => boolean {
  const stamps = new Set(
    placesOf(lines).flatMap(({ version: [kind, , at, , by] }) =>
      kind === 'customer' && by === null ? [at] : [],
    ),
  )
  return ([kind, , at]) => kind !== 'customer' && stamps.has(at)
}

export const lostPlants: Readonly<Record<string, Plant>> = {
  'a record left out of the first page of a first sync': passedOver(isStart),
  'a record left out of a page with nothing after it': passedOver((_, { page }) => page.checkpoint !== null),
  'a record left out of a page that is asked for again': passedOver(
    (lines, place) => readBefore(lines, place)?.from === 'again',
  ),
  'a record left out after a resume from a watermark': passedOver(
    (lines, place) => typeof readBefore(lines, place)?.from === 'object',
  ),
  'a ticket that goes with its customer, and one follower is not told': neverTold((lines) => {
    const went = wentWithCustomer(lines)
    return (version) => version[0] === 'ticket' && isRemoval(version) && went(version)
  }),
  'an object that loses its customer, and one follower is not told': neverTold((lines) => {
    const went = wentWithCustomer(lines)
    return (version) => !isRemoval(version) && went(version)
  }),
  'a row that the database lacks at the end': {
    sorts: ['lost'],
    plant(lines, pick) {
      const shown = placesOf(lines).map(({ version }) => version)
      const version = pick(shown.filter(finality(lines)))
      if (version === undefined) return null
      return lines.map((line) =>
        line.does === 'stored'
          ? { ...line, versions: line.versions.filter((one) => !isSame(one, version)) }
          : line,
      )
    },
  },
  'a row that the database holds as it was before': {
    sorts: ['lost'],
    plant(lines, pick) {
      const isFinal = finality(lines)
      const shown = placesOf(lines).map(({ version }) => version)
      const finals = new Map(shown.filter(isFinal).map((version) => [version[1], version]))
      const earlier = pick(shown.filter((version) => !isFinal(version) && finals.has(version[1])))
      if (earlier === undefined) return null
      return lines.map((line) =>
        line.does === 'stored'
          ? { ...line, versions: line.versions.map((one) => (one[1] === earlier[1] ? earlier : one)) }
          : line,
      )
    },
  },
  'a record given again on the next page': {
    sorts: ['repeated'],
    plant(lines, pick) {
      const pages = pagesOf(lines)
      const pairs = pages.flatMap((one, n) => {
        if (readBefore(lines, one)?.from !== 'next') return []
        const before = pages.slice(0, n).findLast(({ page }) => page.follower === one.page.follower)
        const last = before?.page.versions.at(-1)
        return last === undefined || isRemoval(last) ? [] : [{ ...one, last }]
      })
      const pair = pick(pairs)
      return pair === undefined ? null : withVersions(lines, pair.line, [pair.last, ...pair.page.versions])
    },
  },
  'a removal given twice': {
    sorts: ['repeated'],
    plant(lines, pick) {
      const place = pick(placesOf(lines).filter(({ version }) => isRemoval(version)))
      if (place === undefined) return null
      return withVersions(lines, place.line, place.page.versions.toSpliced(place.at, 0, place.version))
    },
  },
  'a follower whose last page promises more': {
    sorts: ['unfinished'],
    plant(lines, pick) {
      const pages = pagesOf(lines)
      const last = pick(
        pages.filter(
          (one) => !pages.some(({ line, page }) => line > one.line && page.follower === one.page.follower),
        ),
      )
      return last === undefined ? null : lines.with(last.line, { ...last.page, checkpoint: null })
    },
  },
}
