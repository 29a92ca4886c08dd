/**
 * Counts over time as stacked bars, and as a table for screen readers. Each series is one path, so that redrawing every
 * second is cheap.
 */

import { Link, type LinkProps } from '@tanstack/react-router'
import { scaleBand, scaleLinear } from '@visx/scale'
import { LinePath } from '@visx/shape'
import { type RefCallback, useCallback, useState } from 'react'
import css from './chart.module.css'
import { sayExact } from './time.tsx'

interface Series {
  readonly key: string
  readonly title: string
  /** A token: `--chart-good`. */
  readonly colour: `--chart-${string}`
}

export interface Point {
  readonly at: string
  /** By the keys of series; missing: 0. */
  readonly counts: Readonly<Record<string, number>>
}

interface ChartProps {
  /** `Attempts per minute`. */
  readonly title: string
  readonly series: readonly Series[]
  readonly points: readonly Point[]
  /** The label of a step on the axis. */
  readonly sayStep: (at: string) => string
  readonly height?: number
  /** What the count of a series at a point opens. */
  readonly to?: (at: string, key: string) => LinkProps
}

const margin = { top: 8, right: 4, bottom: 20, left: 36 }
/** In pixels: the least height of the place to press, for bars that are lower. */
const reach = 32

export function BarChart({ title, series, points, sayStep, height = 180, to }: ChartProps) {
  const [width, place] = useWidth()
  const [over, setOver] = useState<number | null>(null)
  const [isTable, setTable] = useState(false)

  const totals = points.map(({ counts }) => series.reduce((sum, { key }) => sum + (counts[key] ?? 0), 0))
  const x = scaleBand({
    domain: points.map((_, n) => n),
    range: [margin.left, Math.max(margin.left, width - margin.right)],
    paddingInner: 0.25,
  })
  const y = scaleLinear({
    domain: [0, Math.max(4, ...totals)],
    range: [height - margin.bottom, margin.top],
    nice: 3,
  })
  const shown = over === null ? undefined : points[over]
  const every = Math.max(1, Math.ceil(points.length / Math.max(2, Math.floor(width / 96))))

  return (
    <figure className={css.chart}>
      <figcaption>
        <ul className={css.legend}>
          {series.map(({ key, title: name, colour }) => (
            <li key={key}>
              <svg viewBox="0 0 8 8" aria-hidden="true">
                <rect width="8" height="8" rx="2" fill={`var(${colour})`} />
              </svg>
              {name}
              <b className="number">
                {points.reduce((sum, { counts }) => sum + (counts[key] ?? 0), 0).toLocaleString('en')}
              </b>
            </li>
          ))}
        </ul>
        <button
          type="button"
          className={css.switch}
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
        >
          Show table
        </button>
      </figcaption>
      {isTable ? (
        <Figures title={title} series={series} points={points} to={to} />
      ) : (
        <div ref={place} className={css.plot} style={{ minHeight: height }}>
          {width > 0 && (
            <svg
              width={width}
              height={height}
              role="img"
              aria-label={`${title}, bar chart. The table shows the same values.`}
            >
              {y.ticks(3).map((tick) => (
                <g key={tick}>
                  <line className={css.grid} x1={margin.left} x2={width} y1={y(tick)} y2={y(tick)} />
                  <text className={css.tick} x={margin.left - 6} y={y(tick)} dy="0.32em" textAnchor="end">
                    {tick.toLocaleString('en', { notation: 'compact' })}
                  </text>
                </g>
              ))}
              {points.map(
                ({ at }, n) =>
                  n % every === 0 && (
                    <text key={at} className={css.tick} x={x(n)} y={height - 5}>
                      {sayStep(at)}
                    </text>
                  ),
              )}
              {shown !== undefined && (
                <rect
                  className={css.over}
                  x={(x(over as number) ?? 0) - x.step() * 0.125}
                  y={margin.top}
                  width={x.step()}
                  height={height - margin.bottom - margin.top}
                />
              )}
              {series.map(({ key, colour }, n) => (
                <path key={key} fill={`var(${colour})`} d={barsOf(n)} />
              ))}
            </svg>
          )}
          {width > 0 && (
            <svg
              className={css.links}
              width={width}
              height={height}
              aria-hidden="true"
              onPointerMove={(event) => {
                const at = event.clientX - event.currentTarget.getBoundingClientRect().left - margin.left
                const step = x.step()
                setOver(step > 0 ? Math.max(0, Math.min(points.length - 1, Math.floor(at / step))) : null)
              }}
              onPointerLeave={() => setOver(null)}
            >
              {to !== undefined &&
                points.map(({ at }, n) =>
                  placesOf(n).map(({ key, top, bottom }) => (
                    <Link key={`${at} ${key}`} {...to(at, key)} tabIndex={-1} data-bar={`${at} ${key}`}>
                      <rect
                        x={(x(n) ?? 0) - x.step() * 0.125}
                        y={top}
                        width={x.step()}
                        height={bottom - top}
                        fill="transparent"
                      />
                    </Link>
                  )),
                )}
            </svg>
          )}
          {shown !== undefined && (
            <div className={css.tip} data-left={(over as number) > points.length / 2 || undefined}>
              <time dateTime={shown.at}>{sayExact(Date.parse(shown.at))}</time>
              {series.map(({ key, title: name }) => (
                <span key={key}>
                  {name} <b className="number">{(shown.counts[key] ?? 0).toLocaleString('en')}</b>
                </span>
              ))}
            </div>
          )}
        </div>
      )}
    </figure>
  )

  /** Where the bar of the nth point can be pressed: the whole column, shared by its series. Keyboards use the table. */
  function placesOf(
    n: number,
  ): readonly { readonly key: string; readonly top: number; readonly bottom: number }[] {
    const counts = points[n]?.counts ?? {}
    const some = series.filter(({ key }) => (counts[key] ?? 0) > 0)
    const [end, top] = [height - margin.bottom, margin.top]
    let [bottom, sum] = [end, 0]
    return some.map(({ key }, at) => {
      sum += counts[key] ?? 0
      const above = some.length - 1 - at
      const upTo = above === 0 ? top : Math.min(bottom - reach, Math.max(top + above * reach, y(sum)))
      const place = { key, top: upTo, bottom }
      bottom = upTo
      return place
    })
  }

  /** The bars of the nth series, each on top of the series before it. */
  function barsOf(n: number): string {
    const band = x.bandwidth().toFixed(2)
    return points
      .map(({ counts }, at) => {
        const below = series.slice(0, n).reduce((sum, { key }) => sum + (counts[key] ?? 0), 0)
        const count = counts[series[n]?.key ?? ''] ?? 0
        if (count === 0) return ''
        // A count above 0 is always visible.
        const top = Math.min(y(below + count), y(below) - 1.5)
        return `M${(x(at) ?? 0).toFixed(2)} ${y(below).toFixed(2)}h${band}V${top.toFixed(2)}h-${band}z`
      })
      .join('')
  }
}

function Figures({ title, series, points, to }: Pick<ChartProps, 'title' | 'series' | 'points' | 'to'>) {
  const some = points.filter(({ counts }) => series.some(({ key }) => (counts[key] ?? 0) > 0)).reverse()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <div className={css.figures} tabIndex={0}>
      <table>
        <caption>
          {some.length === 0 ? `${title}: none.` : `${title}, latest first, without empty steps.`}
        </caption>
        <thead>
          <tr>
            <th scope="col">From</th>
            {series.map(({ key, title: name }) => (
              <th key={key} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {some.map(({ at, counts }) => (
            <tr key={at}>
              <th scope="row">
                <time dateTime={at}>{sayExact(Date.parse(at))}</time>
              </th>
              {series.map(({ key }) => (
                <td key={key}>
                  {to === undefined || !counts[key] ? (
                    (counts[key] ?? 0).toLocaleString('en')
                  ) : (
                    <Link {...to(at, key)}>{counts[key].toLocaleString('en')}</Link>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** A trend at a glance, next to a label. */
export function Sparkline({
  label,
  values,
  colour = '--chart-good',
}: {
  /** A description with figures, for screen readers. */
  readonly label: string
  readonly values: readonly number[]
  readonly colour?: Series['colour']
}) {
  const [width, height] = [96, 20]
  const x = scaleLinear({ domain: [0, Math.max(1, values.length - 1)], range: [1, width - 1] })
  const y = scaleLinear({ domain: [0, Math.max(1, ...values)], range: [height - 2, 2] })
  return (
    <svg className={css.spark} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <line className={css.grid} x1="0" x2={width} y1={height - 2} y2={height - 2} />
      <LinePath
        data={[...values]}
        x={(_, n) => x(n)}
        y={(value) => y(value)}
        stroke={`var(${colour})`}
        strokeWidth={1.5}
        strokeLinejoin="round"
      />
    </svg>
  )
}

/** The width of the element with the ref, as it changes. */
function useWidth(): readonly [width: number, ref: RefCallback<HTMLElement>] {
  const [width, setWidth] = useState(0)
  const ref = useCallback((place: HTMLElement | null) => {
    if (place === null) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    observer.observe(place)
    return () => observer.disconnect()
  }, [])
  return [width, ref]
}
