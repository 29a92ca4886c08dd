/** What the search finds. Words match from their beginning and never inside. */

const shownOfSort = 6

/** Words of a question that name nothing. */
const filler = new Set(
  'a an and can do does for how i in is it my of on or the to what where with'.split(' '),
)

/** The words of a text, with those that camel case joins: `resolvedAt`, `resolved_at` and `resolved at` have the same. */
function wordsOf(text) {
  const split = text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  const whole = text.toLowerCase()
  return [...new Set([split, whole].flatMap((one) => one.split(/[^\p{L}\p{N}]+/u)))].filter(Boolean)
}

/** An entry of the index (`search-index.ts`), ready to be searched. */
function prepared([sort, title, address, about, words, also = '']) {
  const [titleWords, aboutWords, alsoWords, otherWords] = [title, about, also, words].map(wordsOf)
  return { sort, title, address, about, titleWords, aboutWords, alsoWords, otherWords }
}

/** How well a word fits; 0 where it does not. */
function fitOf(entry, word) {
  const begins = (other) => other.startsWith(word)
  if (entry.titleWords.includes(word)) return 14
  if (entry.alsoWords.includes(word)) return 12
  if (entry.titleWords.some(begins)) return 10
  if (entry.alsoWords.some(begins)) return 8
  if (entry.aboutWords.some(begins)) return 4
  return entry.otherWords.some(begins) ? 2 : 0
}

function scoreOf(entry, words, query) {
  const isSection = entry.address.includes('#') && entry.sort === 'guide'
  let score = entry.title.toLowerCase() === query ? (isSection ? 4 : 60) : 0
  for (const word of words) {
    // A plural finds its singular.
    const best = Math.max(
      fitOf(entry, word),
      word.length > 3 && word.endsWith('s') ? fitOf(entry, word.slice(0, -1)) : 0,
    )
    if (best === 0) return 0
    score += best
  }
  // Words that follow each other in the entry mean the same there.
  const phrase = words.join(' ')
  if (
    words.length > 1 &&
    [entry.titleWords, entry.alsoWords, entry.otherWords].some((all) =>
      ` ${all.join(' ')} `.includes(` ${phrase} `),
    )
  )
    score += 20
  const pageBonus = isSection ? 0 : entry.sort === 'guide' ? 5 : 3
  // Of two that match alike, the shorter title is more specific, and a page comes before a section of another.
  return score + 4 / (1 + entry.title.length) + (entry.sort === 'field' ? 0 : 2) + pageBonus
}

/** The rows of the index, ready to be searched. */
export function prepare(rows) {
  return rows.map(prepared)
}

/** The best entries by sort, the sort with the best one first. */
export function search(entries, text) {
  const query = text.trim().toLowerCase()
  const all = wordsOf(query)
  const telling = all.filter((word) => !filler.has(word))
  const words = telling.length > 0 ? telling : all
  if (words.length === 0) return []
  const bySort = new Map()
  for (const entry of entries) {
    const score = scoreOf(entry, words, query)
    if (score > 0) bySort.set(entry.sort, [...(bySort.get(entry.sort) ?? []), { entry, score }])
  }
  const best = Math.max(...[...bySort.values()].flat().map(({ score }) => score))
  return [...bySort]
    .map(([sort, matches]) => [
      sort,
      matches
        .filter(({ score }) => score >= Math.min(best / 4, 10))
        .sort((a, b) => b.score - a.score)
        .slice(0, shownOfSort),
    ])
    .filter(([, matches]) => matches.length > 0)
    .sort(([, [a]], [, [b]]) => b.score - a.score)
}
