/** Statistics of deliveries and changes, over the spans that screens show. */

import type { Stats, StatsPoint } from '@deskwire/sdk'
import { queryOptions } from '@tanstack/react-query'
import type { LinkProps } from '@tanstack/react-router'
import type { Point } from '../design/chart.tsx'
import { locale } from '../design/time.tsx'
import { answerOf, api } from './client.ts'

export type { Stats, StatsPoint }

const hour = 3_600_000

/** Each with its step, the number of steps, and milliseconds between looks. */
export const spans = {
  hour: { title: 'Hour', step: '1m', steps: 60, length: hour, per: 'minute', every: 5000 },
  day: { title: 'Day', step: '1h', steps: 24, length: 24 * hour, per: 'hour', every: 30_000 },
  month: { title: 'Month', step: '1d', steps: 30, length: 30 * 24 * hour, per: 'day', every: 60_000 },
} as const
export type Span = keyof typeof spans

export function spanOf(name: string | undefined): Span {
  return name === 'day' || name === 'month' ? name : 'hour'
}

/** The points of a span that ends now, of one endpoint or all (`id` null). */
export function statsQuery(span: Span, id: string | null) {
  const { step, steps, every } = spans[span]
  const stepLength = spans[span].length / steps
  return queryOptions({
    queryKey: ['stats', id, span],
    queryFn: async ({ signal }) => {
      const from = new Date(Date.now() - (steps - 1) * stepLength).toISOString()
      const query = { from, step }
      const asked =
        id === null ? api().deliveries.stats(query, { signal }) : api().webhooks.stats(id, query, { signal })
      return answerOf(asked)
    },
    refetchInterval: every,
  })
}

export function failedOf({ failed }: Pick<StatsPoint, 'failed'>): number {
  return Object.values(failed).reduce((sum, count) => sum + count, 0)
}

export const outcomes = [
  { key: 'succeeded', title: 'Succeeded', colour: '--chart-good' },
  { key: 'failed', title: 'Failed', colour: '--chart-bad' },
] as const

/** The deliveries that were created in the step of a bar, by how they ended. */
export function deliveriesOf(span: Span, endpoint?: string): (at: string, outcome: string) => LinkProps {
  const length = spans[span].length / spans[span].steps
  return (at, outcome) => {
    const from = Date.parse(at)
    return {
      to: '/deliveries',
      search: {
        ...(endpoint === undefined ? {} : { endpoint }),
        status: outcome === 'succeeded' ? 'succeeded' : 'undelivered',
        // Each end is exclusive.
        createdAfter: new Date(from - 1).toISOString(),
        createdBefore: new Date(from + length).toISOString(),
      },
    }
  }
}

export function byOutcome(points: readonly StatsPoint[]): Point[] {
  return points.map((point) => ({
    at: point.at,
    counts: { succeeded: point.succeeded, failed: failedOf(point) },
  }))
}

/** How a step is labelled on an axis, in the user's time zone; days are in UTC, as they are counted. */
export function sayStepOf(span: Span): (at: string) => string {
  const format = new Intl.DateTimeFormat(
    locale,
    span === 'month'
      ? { day: 'numeric', month: 'short', timeZone: 'UTC' }
      : { hour: '2-digit', minute: '2-digit' },
  )
  return (at) => format.format(Date.parse(at))
}
