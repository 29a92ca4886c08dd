/** The order of a table's rows, in the address: `sort=Due`, `sort=-Due`. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { List, Row } from '../api/list.ts'

interface SortedColumn<T> {
  readonly title: string
  /** What rows are sorted by; an empty value comes last. */
  readonly order?: (row: T) => Value
}

export function useSorted<T extends Row>(list: List<T>, columns: readonly SortedColumn<T>[]) {
  const { sort } = useSearch({ strict: false }) as { readonly sort?: string }
  const navigate = useNavigate()
  const isDown = sort?.startsWith('-') ?? false
  const title = isDown ? sort?.slice(1) : sort
  // Of a part of a list, the first row of an order would not be the first of all.
  const isPossible = !list.hasMore
  const order = isPossible ? columns.find((column) => column.title === title)?.order : undefined
  const rows = useMemo(() => {
    if (order === undefined) return list.rows
    const valued = list.rows.map((row) => ({ row, value: order(row) }))
    return valued.sort((a, b) => compare(a.value, b.value, isDown)).map(({ row }) => row)
  }, [list.rows, order, isDown])
  return {
    rows,
    isPossible,
    directionOf: (of: string) =>
      order === undefined || of !== title
        ? undefined
        : isDown
          ? ('descending' as const)
          : ('ascending' as const),
    /** Up, then down, then as the API sorts. */
    by: (of: string) => {
      const next = of !== title ? of : isDown ? undefined : `-${of}`
      void navigate({
        to: '.',
        search: ((held: object) => ({ ...held, sort: next })) as never,
        replace: true,
      })
    },
  }
}

type Value = string | number | null

function compare(a: Value, b: Value, isDown: boolean): number {
  const [isNone, isOther] = [a, b].map((value) => value === null || value === '')
  if (isNone || isOther) return Number(isNone) - Number(isOther)
  const up =
    typeof a === 'number' && typeof b === 'number'
      ? a - b
      : String(a).localeCompare(String(b), undefined, { numeric: true })
  return isDown ? -up : up
}
