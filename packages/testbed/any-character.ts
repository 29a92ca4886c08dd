import fc from 'fast-check'

const [firstHalf, halves] = [0xd800, 0x800]

/** As the unit `binary` of fast-check, which takes most of a second for each process, to list them all. */
export const anyCharacter = fc
  .nat({ max: 0x10ffff - halves })
  .map((n) => String.fromCodePoint(n < firstHalf ? n : n + halves))
