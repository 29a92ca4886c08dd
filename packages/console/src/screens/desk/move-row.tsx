/** The possible moves of an object; nothing where there are none. */
import type { ReactNode } from 'react'
import css from './move-row.module.css'

export function MoveRow({ children }: { readonly children: readonly ReactNode[] }) {
  if (children.length === 0) return null
  return (
    <section className={css.row} aria-label="Status actions">
      {children}
    </section>
  )
}
