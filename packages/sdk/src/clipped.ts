/** Text that is shown in part. */

const characters = new Intl.Segmenter('und', { granularity: 'grapheme' })

/**
 * At most `length` UTF-16 code units of the text, followed by `mark` if there was more. It ends between characters as
 * a reader sees them (a flag, a family or an accented letter stays whole), and is well-formed.
 */
export const clipped = (text: string, length: number, mark = '…'): string => {
  if (text.length <= length) return text.toWellFormed()
  // Where a character begins depends on nothing that follows it.
  const start = text.slice(0, length + 2)
  const { index } = characters.segment(start).containing(length) ?? { index: length }
  // One character alone can be longer than all that may be shown.
  const kept = index > 0 ? start.slice(0, index) : start.slice(0, length).replace(/[\ud800-\udbff]$/, '')
  return kept.toWellFormed() + mark
}
