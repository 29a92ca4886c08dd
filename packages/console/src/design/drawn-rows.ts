/**
 * Of a long list, the rows that are drawn: those in the window with some around it, and the one with the focus, which
 * would be lost with its row. Rows need not have the same height.
 */
import { type FocusEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'

/** Shorter lists are drawn whole. */
const long = 200
/** Rows that are drawn before and after the window. */
const around = 15
/** Of a row that was never drawn, in pixels. */
const guess = 37

export interface Drawn {
  /** Of a row, or the height of those that are left out. */
  readonly parts: readonly (
    | { readonly index: number }
    | { readonly height: number; readonly before: number }
  )[]
  readonly isPartial: boolean
  readonly body: React.RefObject<HTMLTableSectionElement | null>
  readonly onFocus: (event: FocusEvent) => void
  /** Draws a row, and gives its link the focus. */
  readonly goTo: (index: number) => void
}

export function useDrawnRows(count: number): Drawn {
  const body = useRef<HTMLTableSectionElement>(null)
  const heights = useRef(new Map<number, number>())
  const [range, setRange] = useState({ first: 0, last: 2 * around })
  const [kept, setKept] = useState<number | null>(null)
  const wanted = useRef<number | null>(null)
  const isPartial = count > long

  useEffect(() => {
    if (!isPartial) return
    const stop = new AbortController()
    const look = () => {
      const top = -(body.current?.getBoundingClientRect().top ?? 0)
      const [first, last] = [top, top + window.innerHeight].map((pixels) =>
        rowAt(pixels, count, heights.current),
      ) as [number, number]
      setRange((held) => (held.first === first && held.last === last ? held : { first, last }))
    }
    look()
    for (const type of ['scroll', 'resize'])
      window.addEventListener(type, look, { passive: true, capture: true, signal: stop.signal })
    return () => stop.abort()
  }, [isPartial, count])

  useLayoutEffect(() => {
    if (!isPartial) return
    for (const row of body.current?.rows ?? []) {
      const index = Number(row.dataset.index ?? -1)
      if (index >= 0) heights.current.set(index, row.getBoundingClientRect().height)
    }
    const row = wanted.current === null ? null : linkOf(body.current, wanted.current)
    wanted.current = null
    row?.focus()
  })

  const parts = useMemo(() => {
    if (!isPartial) return Array.from({ length: count }, (_, index) => ({ index }))
    const [first, last] = [Math.max(0, range.first - around), Math.min(count - 1, range.last + around)]
    const drawn = Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n)
    if (kept !== null && kept < count && (kept < first || kept > last)) drawn.push(kept)
    const made: Drawn['parts'][number][] = []
    let next = 0
    for (const index of [...drawn.sort((a, b) => a - b), count]) {
      if (index > next) made.push({ before: index, height: heightOf(next, index, heights.current) })
      if (index < count) made.push({ index })
      next = index + 1
    }
    return made
  }, [isPartial, count, range, kept])

  return {
    parts,
    isPartial,
    body,
    onFocus: ({ target }) => {
      const { index } = (target.closest('tr') as HTMLElement | null)?.dataset ?? {}
      if (index !== undefined) setKept(Number(index))
    },
    goTo: (index) => {
      const link = linkOf(body.current, index)
      if (link !== null) link.focus()
      else {
        wanted.current = index
        setKept(index)
      }
    },
  }
}

function linkOf(body: HTMLElement | null, index: number): HTMLElement | null {
  return body?.querySelector<HTMLElement>(`tr[data-index="${index}"] a[data-row]`) ?? null
}

function heightOf(from: number, to: number, heights: ReadonlyMap<number, number>): number {
  let sum = 0
  for (let index = from; index < to; index++) sum += heights.get(index) ?? guess
  return sum
}

function rowAt(pixels: number, count: number, heights: ReadonlyMap<number, number>): number {
  let index = 0
  for (let top = 0; index < count - 1; index++) {
    top += heights.get(index) ?? guess
    if (top > pixels) break
  }
  return index
}
