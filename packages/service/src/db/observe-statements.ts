/** What telemetry is told of the statements of organizations, and of the connections that they go over. */
import type { Pool } from 'pg'
import type { Span, Telemetry } from '../kernel/telemetry.ts'
import { stopwatch } from '../kernel/timestamps.ts'

/** A statement that was asked for: it begins when it has a connection, and ends once. */
export interface ObservedStatement {
  began(): void
  /** `error` is what it was rejected with; null when it was not. */
  ended(error: unknown): void
}

/** Told of each statement when it is asked for, with what a pool is asked with. */
export type StatementObserver = (asked: readonly unknown[]) => ObservedStatement

/** Those of the conventions, in seconds. */
const durations = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

/** Counts statements, and makes each a part of what it was asked for by. */
export function observeStatements({ tracer, meter }: Telemetry): StatementObserver {
  const duration = meter.histogram('db.client.operation.duration', {
    unit: 's',
    description: 'Duration of database client operations.',
    boundaries: durations,
  })
  return (asked) => {
    // It may begin later, when another's has ended.
    const { current } = tracer
    let elapsed = stopwatch()
    let span: Span | null = null
    return {
      began() {
        elapsed = stopwatch()
        if (current === null) return
        span = tracer.begin('postgresql', { kind: 'client', parent: current, attributes: system })
      },
      ended(error) {
        // What is decided when there is a connection has its name by now.
        const operation = { 'db.operation.name': operationOf(asked[0]) }
        const failed = error === null ? null : errorOf(error)
        duration(elapsed() / 1_000, {
          ...system,
          ...operation,
          ...(failed !== null && { 'error.type': failed }),
        })
        span?.set(operation)
        span?.end(failed)
      },
    }
  }
}

const system = { 'db.system.name': 'postgresql' }

/** The hash that a function's name ends with is another in each release. */
const ofFunction = /^\s*select (\w+?)_[0-9a-f]{12}\(/

/** What a statement is called: by its own name, by that of its function, or by its first word. */
function operationOf(asked: unknown): string {
  const { name = '', text = String(asked) } = (typeof asked === 'object' ? asked : {}) as {
    readonly name?: string
    readonly text?: string
  }
  if (name !== '') return name.replace(/_[0-9a-f]{12}(?=_|$)/, '')
  return ofFunction.exec(text)?.[1] ?? /\w+/.exec(text)?.[0]?.toLowerCase() ?? 'statement'
}

/** The SQLSTATE, or what Node calls a connection's end. */
function errorOf(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: string }
  return typeof code === 'string' ? code : (name ?? 'error')
}

/** Shows how many connections these pools have. */
export function observePools({ meter }: Telemetry, pools: Readonly<Record<string, Pool>>): void {
  const of = (name: string) => ({ 'db.client.connection.pool.name': name })
  meter.observe(
    'db.client.connection.count',
    { unit: '{connection}', description: 'Connections that are open, by state.' },
    () =>
      Object.entries(pools).flatMap(([name, { totalCount, idleCount }]) => [
        { value: idleCount, attributes: { ...of(name), 'db.client.connection.state': 'idle' } },
        { value: totalCount - idleCount, attributes: { ...of(name), 'db.client.connection.state': 'used' } },
      ]),
  )
  meter.observe(
    'db.client.connection.max',
    { unit: '{connection}', description: 'Connections that there may be.' },
    () => Object.entries(pools).map(([name, { options }]) => ({ value: options.max, attributes: of(name) })),
  )
  meter.observe(
    'db.client.connection.pending_requests',
    { unit: '{request}', description: 'Requests that wait for a connection.' },
    () =>
      Object.entries(pools).map(([name, { waitingCount }]) => ({
        value: waitingCount,
        attributes: of(name),
      })),
  )
}
