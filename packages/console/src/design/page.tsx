/** The shape of every screen: trail, title, actions, filters, body. */
import { type ReactNode, useEffect, useRef } from 'react'
import css from './page.module.css'

interface PageProps {
  readonly title: string
  /** Above the title: a link to the parent. */
  readonly trail?: ReactNode
  /** Next to the title: a state, an id. */
  readonly beside?: ReactNode
  /** Under the title: a sentence. */
  readonly about?: ReactNode
  readonly actions?: ReactNode
  readonly filters?: ReactNode
  /** Title and actions stay at the top. */
  readonly isSticky?: boolean
  readonly children: ReactNode
}

let hasNavigated = false

/** After sign-in: keyboard focus then goes to the beginning of each new page. */
export function markNavigation(): void {
  hasNavigated = true
}

export function Page({ title, trail, beside, about, actions, filters, isSticky, children }: PageProps) {
  const main = useRef<HTMLElement>(null)
  useEffect(() => {
    // The pressed element has gone with its page.
    if (hasNavigated && document.activeElement === document.body) main.current?.focus({ preventScroll: true })
  }, [])
  return (
    <main ref={main} className={css.page} id="content" tabIndex={-1}>
      <title>{`${title} · Deskwire`}</title>
      <header className={css.head} data-sticky={isSticky}>
        <div className={css.naming}>
          {trail !== undefined && <nav aria-label="Breadcrumb">{trail}</nav>}
          <div className={css.titles}>
            <h1 dir="auto">{title}</h1>
            {beside}
          </div>
          {about !== undefined && (
            <p className={css.about} dir="auto">
              {about}
            </p>
          )}
        </div>
        {actions !== undefined && <div className={css.actions}>{actions}</div>}
      </header>
      {filters !== undefined && (
        <search className={css.filters} aria-label={`${title} filters`}>
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

/** Names and values; a `wide` one takes two columns. */
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
          <dd dir="auto">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
