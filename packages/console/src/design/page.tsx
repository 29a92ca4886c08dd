/** The one shape of a screen: where it is, what it is called, what can be done, what is filtered, and its body. */
import { type ReactNode, useEffect, useRef } from 'react'
import css from './page.module.css'

interface PageProps {
  readonly title: string
  /** Above the title, where this is part of something: a link to that. */
  readonly trail?: ReactNode
  /** Beside the title: a state, an id. */
  readonly beside?: ReactNode
  /** Under the title: a sentence, where one helps. */
  readonly about?: ReactNode
  readonly actions?: ReactNode
  readonly filters?: ReactNode
  readonly children: ReactNode
}

let hasGoneOn = false

/** Says that somebody goes on from where they came in: the keyboard then goes on at the beginning of each page that comes. */
export function goOn(): void {
  hasGoneOn = true
}

export function Page({ title, trail, beside, about, actions, filters, children }: PageProps) {
  const main = useRef<HTMLElement>(null)
  useEffect(() => {
    // What was pressed has gone with the page that it was on.
    if (hasGoneOn && document.activeElement === document.body) main.current?.focus({ preventScroll: true })
  }, [])
  return (
    <main ref={main} className={css.page} id="content" tabIndex={-1}>
      <title>{`${title} · Deskwire`}</title>
      <header className={css.head}>
        <div className={css.naming}>
          {trail !== undefined && <nav aria-label="Where this is">{trail}</nav>}
          <div className={css.titles}>
            <h1>{title}</h1>
            {beside}
          </div>
          {about !== undefined && <p className={css.about}>{about}</p>}
        </div>
        {actions !== undefined && <div className={css.actions}>{actions}</div>}
      </header>
      {filters !== undefined && (
        <search className={css.filters} aria-label={`Filters of ${title}`}>
          {filters}
        </search>
      )}
      {children}
    </main>
  )
}

/** A part of a page with a title of its own. */
export function Panel({
  title,
  actions,
  children,
}: {
  readonly title: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}) {
  return (
    <section className={css.panel} aria-label={title}>
      <header className={css.panelHead}>
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  )
}

/** Facts: each a name and what it is; what is `wide` has the room of two. */
export function Facts({
  of,
}: {
  readonly of: readonly (readonly [name: string, value: ReactNode, width?: 'wide'])[]
}) {
  return (
    <dl className={css.facts}>
      {of.map(([name, value, width]) => (
        <div key={name} data-width={width}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
