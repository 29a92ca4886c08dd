import { ApiProblem } from './problem.ts'

interface Made {
  readonly done: number
  /** Why the others were refused: `2 × It has changed meanwhile.` */
  readonly refusals: readonly string[]
  readonly refused: number
}

/** Calls at a time. */
const atOnce = 4

/**
 * Makes a call for each row. One that the service refuses does not stop the others; what concerns all, as when the
 * service is away, is thrown.
 */
export async function forEach<T>(rows: readonly T[], call: (row: T) => Promise<unknown>): Promise<Made> {
  const left = [...rows]
  const reasons: string[] = []
  async function work(): Promise<void> {
    for (let row = left.shift(); row !== undefined; row = left.shift()) {
      try {
        await call(row)
      } catch (error) {
        if (!(error instanceof ApiProblem) || error.status >= 429) {
          left.length = 0
          throw error
        }
        reasons.push(error.status === 412 ? 'It has changed meanwhile.' : error.message)
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  const refusals = [...Map.groupBy(reasons, (reason) => reason)].map(([reason, { length }]) =>
    length === 1 ? reason : `${length} × ${reason}`,
  )
  return { done: rows.length - reasons.length, refusals, refused: reasons.length }
}
