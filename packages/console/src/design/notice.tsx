/** An important message at the top of a page, with its actions. */
import type { ReactNode } from 'react'
import css from './notice.module.css'

export function Notice({
  tone,
  title,
  children,
  actions,
}: {
  readonly tone: 'wait' | 'bad'
  readonly title: string
  readonly children?: ReactNode
  readonly actions?: ReactNode
}) {
  return (
    <section className={css.notice} data-tone={tone} aria-label={title}>
      <div className={css.words}>
        <h2>{title}</h2>
        {children}
      </div>
      {actions !== undefined && <div className={css.actions}>{actions}</div>}
    </section>
  )
}
