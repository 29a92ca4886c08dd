/** The query of a list that is no stream: which page, and by default when its rows were made. */
import type { Problem } from '../kernel/errors.ts'
import { fail, ok, type Result } from '../kernel/result.ts'
import { parseLimit, parseOffset, parseTime, unknownParameter } from './list-parameters.ts'

export interface Page {
  readonly limit: number
  readonly offset: number
}

export interface CreatedBetween {
  readonly createdAfter: string | null
  readonly createdBefore: string | null
}

/** Which page, or the first thing that is wrong. `others`: parameters that are known beside it. */
export function parsePaging(query: URLSearchParams, others: readonly string[] = []): Result<Page, Problem> {
  const unknown = unknownParameter(query, ['limit', 'offset', ...others])
  if (unknown !== null) return fail(unknown)
  const limit = parseLimit(query)
  if (!limit.ok) return limit
  const offset = parseOffset(query)
  return offset.ok ? ok({ limit: limit.value, offset: offset.value }) : offset
}

/** Page and times of creation, or the first thing that is wrong. `others`: parameters that are known beside them. */
export function parsePage(
  query: URLSearchParams,
  others: readonly string[] = [],
): Result<{ page: Page; filter: CreatedBetween }, Problem> {
  const page = parsePaging(query, [...others, 'createdAfter', 'createdBefore'])
  if (!page.ok) return page
  const createdAfter = parseTime(query, 'createdAfter')
  if (!createdAfter.ok) return createdAfter
  const createdBefore = parseTime(query, 'createdBefore')
  if (!createdBefore.ok) return createdBefore
  return ok({
    page: page.value,
    filter: { createdAfter: createdAfter.value, createdBefore: createdBefore.value },
  })
}
