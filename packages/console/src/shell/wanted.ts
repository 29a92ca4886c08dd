/** Parses the text in the palette: words or an id, optionally after a kind: `ticket: printer`. */
import type { Command, Screen } from '../router/screen.ts'

interface Wanted {
  /** The screens to search. */
  readonly among: readonly Screen[]
  /** A kind was named: then it is the only one. */
  readonly isNarrow: boolean
  readonly words: string
}

/** A kind may be abbreviated: `cu:` of customers. An unknown one belongs to the words. */
export function wantedOf(typed: string, screens: readonly Screen[]): Wanted {
  const [, kind, rest] = /^\s*([a-z][a-z ]*):\s*(.*)$/i.exec(typed) ?? []
  if (kind !== undefined && rest !== undefined) {
    const among = screens.filter(({ title }) => title.toLowerCase().startsWith(kind.toLowerCase()))
    if (among.length > 0) return { among, isNarrow: true, words: rest.trim() }
  }
  return { among: screens, isNarrow: false, words: typed.trim() }
}

/** Commands whose titles have the words: at their beginning first, then at the beginning of a word, then anywhere. */
export function ranked(commands: readonly Command[], words: string): readonly Command[] {
  const sought = words.toLowerCase()
  const rankOf = ({ title }: Command) => {
    const at = title.toLowerCase().indexOf(sought)
    if (at <= 0) return at === 0 ? 0 : 3
    return title[at - 1] === ' ' ? 1 : 2
  }
  return commands
    .map((command) => ({ command, rank: rankOf(command) }))
    .filter(({ rank }) => rank < 3)
    .sort((one, other) => one.rank - other.rank)
    .map(({ command }) => command)
}
