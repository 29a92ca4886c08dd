/**
 * Of a long list, the rows that are drawn: those in the window with some around it, and the one with the focus, which
 * would be lost with its row. Rows need not have the same height. Loaded with the first long list.
 */
import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, type Ref, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import css from './data-table.module.css'

export default function DrawnRows({
  count,
  body,
  goTo,
  line,
}: {
  readonly count: number
  readonly body: RefObject<HTMLTableSectionElement | null>
  /** Set to what draws a row and gives it the focus. */
  readonly goTo: RefObject<((index: number) => void) | null>
  readonly line: (index: number, ref: Ref<HTMLTableRowElement>) => ReactNode
}) {
  const [above, setAbove] = useState(0)
  const [kept, setKept] = useState(-1)
  const wanted = useRef(-1)
  const rows = useWindowVirtualizer<HTMLTableRowElement>({
    count,
    estimateSize: () => 37,
    overscan: 15,
    scrollMargin: above,
    rangeExtractor: (range) => {
      const drawn = defaultRangeExtractor(range)
      const isDrawn = kept < 0 || kept >= count || drawn.includes(kept)
      return isDrawn ? drawn : [...drawn, kept].sort((a, b) => a - b)
    },
  })
  useEffect(() => {
    goTo.current = (index) => {
      wanted.current = index
      setKept(index)
    }
    const stop = new AbortController()
    const keep = ({ target }: FocusEvent) => {
      const row = (target as Element).closest('tr')
      if (row?.dataset.index !== undefined) setKept(Number(row.dataset.index))
    }
    body.current?.addEventListener('focusin', keep, { signal: stop.signal })
    return () => stop.abort()
  }, [body, goTo])
  useLayoutEffect(() => {
    setAbove((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY)
    body.current?.querySelector<HTMLElement>(`tr[data-index="${wanted.current}"] a[data-row]`)?.focus()
    wanted.current = -1
  })

  let top = above
  const gap = (to: number, key: number) =>
    to > top && (
      // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it can have the focus
      <tr key={`before ${key}`} aria-hidden="true" className={css.gap} style={{ height: to - top }}>
        <td />
      </tr>
    )
  const parts = rows.getVirtualItems().flatMap(({ index, start, end }) => {
    const part = [gap(start, index), line(index, rows.measureElement)]
    top = end
    return part
  })
  return [...parts, gap(above + rows.getTotalSize(), count)]
}
