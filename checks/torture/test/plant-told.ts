/** Faults in what is shown: wrong bytes, texts, kinds and checkpoints. */
import type { Line, Told, Version } from '../history/format.ts'
import {
  hashOf,
  isRemoval,
  isSame,
  mapVersions,
  pagesOf,
  placesOf,
  placeText,
  withVersions,
} from './places.ts'
import type { Pick, Plant } from './plant.ts'

type Answered = Told & { readonly version: Version }

/** Responses that showed a version. */
const answersOf = (lines: readonly Line[]) =>
  lines.flatMap((line, at) =>
    line.does === 'told' && line.version !== undefined ? [{ at, told: line as Answered }] : [],
  )

/** The places of versions, as texts. */
const shownOn = (lines: readonly Line[]) => new Set(placesOf(lines).map(({ version }) => placeText(version)))

const withWords = (lines: readonly Line[], version: Version, by: number) =>
  mapVersions(lines, (one) => (isSame(one, version) ? (one.with(4, by) as unknown as Version) : one))

const pickShown = (lines: readonly Line[], pick: Pick) =>
  pick(placesOf(lines).filter(({ version }) => !isRemoval(version)))

export const toldPlants: Readonly<Record<string, Plant>> = {
  'other bytes in the answer to a writer': {
    sorts: ['changed'],
    plant(lines, pick) {
      const shown = shownOn(lines)
      const answer = pick(answersOf(lines).filter(({ told }) => shown.has(placeText(told.version))))
      if (answer === undefined) return null
      const version = answer.told.version.with(3, hashOf('other')) as unknown as Version
      return lines.with(answer.at, { ...answer.told, version })
    },
  },
  'other bytes in the database at the end': {
    sorts: ['changed'],
    plant(lines, pick) {
      const shown = shownOn(lines)
      const stored = lines.flatMap((line) => (line.does === 'stored' ? line.versions : []))
      const version = pick(stored.filter((one) => shown.has(placeText(one))))
      if (version === undefined) return null
      const other = version.with(3, hashOf('other')) as unknown as Version
      return lines.map((line) =>
        line.does === 'stored'
          ? { ...line, versions: line.versions.map((one) => (isSame(one, version) ? other : one)) }
          : line,
      )
    },
  },
  'an id under two kinds': {
    sorts: ['changed'],
    plant(lines, pick) {
      const place = pickShown(lines, pick)
      if (place === undefined) return null
      const { line, at, page, version } = place
      const kind = version[0] === 'ticket' ? 'booking' : 'ticket'
      return withVersions(lines, line, page.versions.with(at, version.with(0, kind) as unknown as Version))
    },
  },
  'a record of a kind that is not followed': {
    sorts: ['invented'],
    plant(lines, pick) {
      const page = pick(pagesOf(lines).filter(({ page }) => !page.follower.startsWith('changes')))
      if (page === undefined) return null
      const [own] = page.page.follower.split('/')
      const stranger = pick(placesOf(lines).filter(({ version }) => version[0] !== own))
      return stranger === undefined
        ? null
        : withVersions(lines, page.line, [...page.page.versions, stranger.version])
    },
  },
  'an answer with the words of another ask': {
    sorts: ['invented'],
    plant(lines, pick) {
      const answers = answersOf(lines)
      const [one, other] = [pick(answers), pick(answers)]
      if (one === undefined || other === undefined || one.told.n === other.told.n) return null
      const version = one.told.version.with(4, other.told.n) as unknown as Version
      return lines.with(one.at, { ...one.told, version })
    },
  },
  'words of an ask that was never made': {
    sorts: ['invented'],
    plant(lines, pick) {
      const place = pickShown(lines, pick)
      return place === undefined ? null : withWords(lines, place.version, 9_999_999)
    },
  },
  'words of an ask that came later': {
    sorts: ['invented'],
    plant(lines, pick) {
      const place = pickShown(lines, pick)
      if (place === undefined) return null
      const later = pick(lines.slice(place.line).flatMap((line) => (line.does === 'ask' ? [line.n] : [])))
      return later === undefined ? null : withWords(lines, place.version, later)
    },
  },
  'a checkpoint without one of the kinds': {
    sorts: ['checkpoint'],
    plant(lines, pick) {
      const place = pick(pagesOf(lines).filter(({ page }) => page.checkpoint !== null))
      if (place === undefined) return null
      const proofs = Object.entries(place.page.checkpoint ?? {})
      const gone = pick(proofs)
      const checkpoint = Object.fromEntries(proofs.filter((one) => one !== gone))
      return lines.with(place.line, { ...place.page, checkpoint })
    },
  },
  'a checkpoint of another moment': {
    sorts: ['checkpoint'],
    plant(lines, pick) {
      const pages = pagesOf(lines).filter(({ page }) => page.checkpoint !== null)
      const place = pick(pages)
      if (place === undefined) return null
      const own = JSON.stringify(place.page.checkpoint)
      const other = pick(
        pages.filter(
          ({ page }) => page.follower === place.page.follower && JSON.stringify(page.checkpoint) !== own,
        ),
      )
      return other === undefined
        ? null
        : lines.with(place.line, { ...place.page, checkpoint: other.page.checkpoint })
    },
  },
}
