/** The whole text of what a table cuts off: of the cell under the pointer, or of the row with the focus. */
import { type CSSProperties, type FocusEvent, type PointerEvent, useEffect, useRef, useState } from 'react'
import css from './tip.module.css'

interface Tip {
  readonly texts: readonly string[]
  readonly place: CSSProperties
}

export function useTip() {
  const [tip, setTip] = useState<Tip | null>(null)
  const popup = useRef<HTMLDivElement>(null)
  const under = useRef<HTMLElement>(undefined)
  const hide = () => setTip(null)
  useEffect(() => {
    if (tip === null) return
    const stop = new AbortController()
    const { signal } = stop
    window.addEventListener('scroll', () => setTip(null), { signal, capture: true })
    window.addEventListener('keydown', ({ key }) => key === 'Escape' && setTip(null), { signal })
    return () => stop.abort()
  }, [tip])

  function show(cells: readonly HTMLElement[]): void {
    const cut = cells.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    const [first] = cut
    if (first === undefined) {
      hide()
      return
    }
    const { bottom, left, right } = first.getBoundingClientRect()
    const isLeft = left < window.innerWidth / 2
    setTip({
      texts: cut.map(({ textContent }) => textContent),
      place: { top: bottom, ...(isLeft ? { left } : { right: window.innerWidth - right }) },
    })
  }

  return {
    handlers: {
      // The link of a row lies over all of its cells.
      onPointerMove: ({ target, clientX }: PointerEvent) => {
        const cell = cellsOf(target).find((one) => {
          const { left, right } = one.getBoundingClientRect()
          return left <= clientX && clientX < right
        })
        if (cell === under.current) return
        under.current = cell
        show(cell === undefined ? [] : [cell])
      },
      onFocus: ({ target }: FocusEvent<HTMLElement>) => {
        if (target.matches('a:focus-visible')) show(cellsOf(target))
      },
      onBlur: hide,
      onPointerLeave: ({ relatedTarget }: PointerEvent) => {
        under.current = undefined
        if (!popup.current?.contains(relatedTarget as Node)) hide()
      },
    },
    shown: tip && (
      <div ref={popup} role="tooltip" className={css.tip} style={tip.place} onPointerLeave={hide}>
        {tip.texts.map((text) => (
          <p key={text} dir="auto">
            {text}
          </p>
        ))}
      </div>
    ),
  }
}

function cellsOf(target: EventTarget): readonly HTMLElement[] {
  return [...((target as Element).closest<HTMLTableRowElement>('tbody tr')?.cells ?? [])]
}
