/**
 * Rows of a list: a table on wide screens, cards on narrow ones. Each row is a link; arrow keys move between rows, and
 * new rows wait behind a count.
 */
import { Link, type LinkProps } from '@tanstack/react-router'
import type { KeyboardEvent, ReactNode } from 'react'
import type { List, Row } from '../api/list.ts'
import { Button } from './button.tsx'
import css from './data-table.module.css'
import { ErrorState, Loading, NoMatch } from './states.tsx'

export interface Column<T> {
  readonly title: string
  readonly cell: (row: T) => ReactNode
  readonly align?: 'end'
  /** Takes the remaining width; otherwise as much as it needs. */
  readonly isWide?: boolean
  /** Hidden on narrow screens. */
  readonly isExtra?: boolean
}

export interface DataTableProps<T extends Row> {
  /** `Deliveries`. */
  readonly caption: string
  readonly list: List<T>
  /** The first is the row's name and link. */
  readonly columns: readonly Column<T>[]
  readonly to?: (row: T) => LinkProps
  /** Shown where there are no rows at all. */
  readonly empty: ReactNode
  /** Null where no filter is set. */
  readonly clearFilters?: (() => void) | null
  /** An explanation where nothing matches. */
  readonly noMatch?: ReactNode
}

export function DataTable<T extends Row>({
  caption,
  list,
  columns,
  to,
  empty,
  clearFilters = null,
  noMatch,
}: DataTableProps<T>) {
  const { rows, news } = list
  if (list.isLoading) return <Loading />
  if (list.error !== null && rows.length === 0) return <ErrorState error={list.error} retry={list.retry} />
  return (
    <div className={css.list}>
      <div className={css.news} role="status">
        {(news.count > 0 || news.gone > 0) && (
          <Button size="s" kind="primary" className={css.pill} onClick={list.showNews}>
            {sayNews(news)}
          </Button>
        )}
      </div>
      {rows.length === 0 ? (
        clearFilters === null ? (
          empty
        ) : (
          <NoMatch clear={clearFilters}>{noMatch}</NoMatch>
        )
      ) : (
        <table className={css.table} onKeyDown={moveBetweenRows}>
          <caption className="unseen">{caption}</caption>
          <thead>
            <tr>
              {columns.map(({ title, align, isWide, isExtra }) => (
                <th key={title} scope="col" data-align={align} data-wide={isWide} data-extra={isExtra}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr
                key={row.id}
                data-gone={list.isGone(row) || undefined}
                title={list.isGone(row) ? 'No longer in this list' : undefined}
              >
                {columns.map(({ title, cell, align, isWide, isExtra }, n) => (
                  <td
                    key={title}
                    data-title={title}
                    data-align={align}
                    data-wide={isWide}
                    data-extra={isExtra}
                  >
                    {n === 0 && to !== undefined ? (
                      <Link {...to(row)} className={css.link} data-row>
                        {cell(row)}
                      </Link>
                    ) : (
                      cell(row)
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {list.hasMore && (
        <footer className={css.more}>
          <Button isBusy={list.isLoadingMore} onClick={list.loadMore}>
            Load more
          </Button>
          <span className="number">
            {rows.length.toLocaleString('en')} of {list.total.toLocaleString('en')}
            {list.isExact ? '' : ' or more'}
          </span>
        </footer>
      )}
    </div>
  )
}

function sayNews({ count, gone }: List<Row>['news']): string {
  const come = count === 0 ? [] : [`${count} new`]
  return [...come, ...(gone === 0 ? [] : [`${gone} gone`])].join(', ')
}

/** Up and down, Home and End: between the links of rows. */
function moveBetweenRows(event: KeyboardEvent<HTMLTableElement>): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLAnchorElement>('a[data-row]')]
  const at = links.indexOf(document.activeElement as HTMLAnchorElement)
  if (at === -1) return
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key]
  if (next === undefined) return
  event.preventDefault()
  links[next]?.focus()
}
