/** Rows of corpora, columns of doors, and what each cell found. */

export const doors = ['API', 'query', 'import', 'mirror', 'webhook', 'MCP', 'SDK', 'console'] as const
export type Door = (typeof doors)[number]

/** What a door did with a corpus. */
export interface Cell {
  /** How many inputs were tried. */
  readonly tried: number
  /** Of these, how many were refused in words, where a refusal is right. */
  readonly refused: number
  /** Each input that was changed, lost, wrongly accepted or refused without words. */
  readonly wrong: readonly string[]
}

export interface Row {
  readonly corpus: string
  /** A sentence for each door that the corpus does not apply to. */
  readonly cells: Readonly<Record<Door, Cell | string>>
}

/** Collects the outcome of one cell. */
export class Tally implements Cell {
  tried = 0
  refused = 0
  readonly wrong: string[] = []

  /** Counts an input; `fault` says what is wrong with its outcome. */
  count(input: unknown, fault: string | null, refused = false): void {
    this.tried++
    if (refused && fault === null) this.refused++
    if (fault !== null) this.wrong.push(`${short(input)}: ${fault}`)
  }
}

/** An input or output in one short line. */
export function short(value: unknown, length = 160): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length > length ? `${text.slice(0, length)}…` : text
}

/** The table, and below it why cells are empty. */
export function tableOf(rows: readonly Row[]): readonly string[] {
  const reasons: string[] = []
  const shown = (cell: Cell | string): string => {
    if (typeof cell === 'string') {
      if (!reasons.includes(cell)) reasons.push(cell)
      return `(${reasons.indexOf(cell) + 1})`
    }
    const refused = cell.refused === 0 ? '' : `, ${cell.refused.toLocaleString('en')} refused`
    const wrong = cell.wrong.length === 0 ? '' : `, **${cell.wrong.length} wrong**`
    return `${cell.tried.toLocaleString('en')}${refused}${wrong}`
  }
  const lines = rows.map(({ corpus, cells }) =>
    ['', corpus, ...doors.map((door) => shown(cells[door])), ''].join(' | ').trim(),
  )
  return [
    `| corpus | ${doors.join(' | ')} |`,
    `|${' --- |'.repeat(doors.length + 1)}`,
    ...lines,
    '',
    ...reasons.map((reason, n) => `${n + 1}. ${reason}`),
  ]
}
