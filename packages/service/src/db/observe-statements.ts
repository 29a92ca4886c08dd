import type { Pool } from 'pg'
import type { Span, Telemetry } from '../kernel/telemetry.ts'
import { stopwatch } from '../kernel/timestamps.ts'

/** A statement: it begins when it gets a connection, and ends once. */
export interface ObservedStatement {
  began(): void
  ended(error: unknown): void
}

/** Called with the arguments of `query` when a statement is requested. */
export type StatementObserver = (queryArguments: readonly unknown[]) => ObservedStatement

const durations = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]

/** Counts statements, and traces each as a child of the span that requested it. */
export function observeStatements({ tracer, meter }: Telemetry): StatementObserver {
  const duration = meter.histogram('db.client.operation.duration', {
    unit: 's',
    description: 'Duration of database client operations.',
    boundaries: durations,
  })
  return (queryArguments) => {
    // It may begin later, when another statement has ended.
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
        // A statement that is built when a connection is available has its name by now.
        const operation = { 'db.operation.name': operationOf(queryArguments[0]) }
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

/** The hash at the end of a function's name differs between releases. */
const ofFunction = /^\s*select (\w+?)_[0-9a-f]{12}\(/

/** The statement's name, that of its function, or its first word. */
function operationOf(statement: unknown): string {
  const { name = '', text = String(statement) } = (typeof statement === 'object' ? statement : {}) as {
    readonly name?: string
    readonly text?: string
  }
  if (name !== '') return name.replace(/_[0-9a-f]{12}(?=_|$)/, '')
  return ofFunction.exec(text)?.[1] ?? /\w+/.exec(text)?.[0]?.toLowerCase() ?? 'statement'
}

/** The SQLSTATE, or Node's code for a connection that ended. */
function errorOf(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: string }
  return typeof code === 'string' ? code : (name ?? 'error')
}

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
