/**
 * Rows of a list: a table on wide screens, cards on narrow ones. Each row is a link; arrow keys move between rows, and
 * new rows wait behind a count.
 */
import { Link, type LinkProps } from '@tanstack/react-router'
import {
  type KeyboardEvent,
  lazy,
  type ReactNode,
  type Ref,
  Suspense,
  useEffect,
  useRef,
  useState,
} from 'react'
import type { List, Row } from '../api/list.ts'
import { isRemoved } from '../api/live.ts'
import { Button } from './button.tsx'
import css from './data-table.module.css'
import { useSorted } from './sorted.ts'
import { ErrorState, Loading, NoMatch } from './states.tsx'
import { useTip } from './tip.tsx'

const DrawnRows = lazy(() => import('./drawn-rows.tsx'))

/** Shorter lists are drawn whole. */
const long = 200

export interface Column<T> {
  readonly title: string
  readonly cell: (row: T) => ReactNode
  readonly align?: 'end'
  /** In rem, at least and at most: it depends on the window and not on the rows. */
  readonly width?: readonly [least: number, most: number]
  /** Takes the remaining width. */
  readonly isWide?: boolean
  /** What rows are sorted by, where the list is complete: the API sorts none. An empty value comes last. */
  readonly order?: (row: T) => string | number | null
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
  /** Rows can be selected: what can be done with those that are. `clear` ends the selection. */
  readonly bulk?: ((chosen: readonly T[], clear: () => void) => ReactNode) | undefined
}

export function DataTable<T extends Row>({
  caption,
  list,
  columns,
  to,
  empty,
  clearFilters = null,
  noMatch,
  bulk,
}: DataTableProps<T>) {
  const { news } = list
  const { rows, ...sorting } = useSorted(list, columns)
  const tip = useTip()
  const body = useRef<HTMLTableSectionElement>(null)
  const draw = useRef<((index: number) => void) | null>(null)
  const isPartial = rows.length > long
  function goTo(index: number): void {
    const link = body.current?.querySelector<HTMLElement>(`tr[data-index="${index}"] a[data-row]`)
    if (link) link.focus()
    else draw.current?.(index)
  }
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const lastPicked = useRef(0)
  /** With Shift: all rows from the last one. */
  function toggle(index: number, isRange: boolean): void {
    const next = new Set(picked)
    const isOn = !picked.has(rows[index]?.id ?? '')
    const [from, to] = [isRange ? lastPicked.current : index, index].sort((a, b) => a - b) as [number, number]
    for (const row of rows.slice(from, to + 1)) {
      if (isOn && !list.isGone(row)) next.add(row.id)
      else next.delete(row.id)
    }
    lastPicked.current = index
    setPicked(next)
  }
  const known = useRef<ReadonlySet<string> | null>(null)
  function showNews(): void {
    known.current = new Set(rows.map(({ id }) => id))
    list.showNews()
  }
  // The pressed button has gone: the first new row has the focus, and is scrolled to.
  useEffect(() => {
    const first = rows.findIndex(({ id }) => known.current?.has(id) === false)
    if (known.current === null || news.count > 0) return
    known.current = null
    if (first !== -1) goTo(first)
  })
  const chosen = rows.filter((row) => picked.has(row.id) && !list.isGone(row))
  if (list.isLoading) return <Loading />
  if (list.error !== null && rows.length === 0) return <ErrorState error={list.error} retry={list.retry} />

  const line = (row: T, index: number, ref?: Ref<HTMLTableRowElement>) => (
    <tr
      key={row.id}
      ref={ref}
      data-index={index}
      aria-rowindex={isPartial ? index + 2 : undefined}
      data-gone={list.isGone(row) || undefined}
      title={list.isGone(row) && !isRemoved(row.id) ? 'No longer in this list' : undefined}
    >
      {bulk !== undefined && (
        <td className={css.pick}>
          <input
            type="checkbox"
            aria-label="Select"
            aria-describedby={`row-${row.id}`}
            disabled={list.isGone(row)}
            checked={picked.has(row.id)}
            onChange={({ nativeEvent }) =>
              toggle(index, 'shiftKey' in nativeEvent && nativeEvent.shiftKey === true)
            }
          />
        </td>
      )}
      {columns.map(({ title, cell, align, isExtra }, n) => (
        <td
          key={title}
          dir="auto"
          data-title={title}
          data-name={n === 0}
          data-align={align}
          data-extra={isExtra}
        >
          {isRemoved(row.id) ? (
            n === 0 && 'Deleted'
          ) : n === 0 && to !== undefined ? (
            <Link {...to(row)} id={`row-${row.id}`} className={css.link} data-row>
              {cell(row)}
            </Link>
          ) : (
            cell(row)
          )}
        </td>
      ))}
    </tr>
  )
  return (
    <div className={css.list}>
      <div className={css.news} role="status">
        {(news.count > 0 || news.gone > 0) && (
          <Button size="s" kind="primary" className={css.pill} onClick={showNews}>
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
        <table
          className={css.table}
          aria-rowcount={list.hasMore || isPartial ? (list.isExact ? list.total + 1 : -1) : undefined}
          onKeyDown={(event) => moveBetweenRows(event, rows.length, goTo)}
          {...tip.handlers}
        >
          <caption className="unseen">{caption}</caption>
          <thead>
            <tr>
              {bulk !== undefined && (
                <th scope="col" className={css.pick}>
                  <input
                    type="checkbox"
                    aria-label="Select all rows"
                    checked={chosen.length === rows.length}
                    ref={(box) => {
                      if (box !== null) box.indeterminate = chosen.length > 0 && chosen.length < rows.length
                    }}
                    onChange={({ currentTarget }) =>
                      setPicked(new Set(currentTarget.checked ? rows.map(({ id }) => id) : []))
                    }
                  />
                </th>
              )}
              {columns.map(({ title, align, width, isWide, isExtra, order }) => (
                <th
                  key={title}
                  scope="col"
                  data-align={align}
                  data-extra={isExtra}
                  aria-sort={sorting.directionOf(title)}
                  style={isWide ? undefined : { width: sayWidth(width) }}
                >
                  {order !== undefined && sorting.isPossible ? (
                    <button type="button" className={css.sort} onClick={() => sorting.by(title)}>
                      {title}
                    </button>
                  ) : (
                    title
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body}>
            {isPartial ? (
              <Suspense fallback={rows.map((row, index) => line(row, index))}>
                <DrawnRows
                  count={rows.length}
                  body={body}
                  goTo={draw}
                  line={(index, ref) => line(rows[index] as T, index, ref)}
                />
              </Suspense>
            ) : (
              rows.map((row, index) => line(row, index))
            )}
          </tbody>
        </table>
      )}
      {tip.shown}
      {bulk !== undefined && chosen.length > 0 && (
        <section className={css.bulk} aria-label="Selected rows">
          <span role="status">{chosen.length.toLocaleString('en')} selected</span>
          {bulk(chosen, () => setPicked(new Set()))}
          <Button kind="quiet" onClick={() => setPicked(new Set())}>
            Clear
          </Button>
        </section>
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

/** Most at a width of 80 rem, and less in proportion. */
function sayWidth([least, most]: readonly [number, number] = [6.5, 7]): string {
  return `clamp(${least}rem, ${(most / 80) * 100}vw, ${most}rem)`
}

function sayNews({ count, gone }: List<Row>['news']): string {
  const come = count === 0 ? [] : [`${count} new`]
  return [...come, ...(gone === 0 ? [] : [`${gone} gone`])].join(', ')
}

/** Up and down, Home and End: between the links of rows. */
function moveBetweenRows(event: KeyboardEvent, count: number, goTo: (index: number) => void): void {
  const link = document.activeElement?.closest<HTMLElement>('a[data-row]')
  const at = Number(link?.closest('tr')?.dataset.index ?? -1)
  if (at === -1) return
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: count - 1 }[event.key]
  if (next === undefined) return
  event.preventDefault()
  if (next >= 0 && next < count) goTo(next)
}
