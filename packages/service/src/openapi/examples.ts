/** The values that examples are made of: the same in every document, and such as the service would answer. */

/** Ids as the service makes them (UUIDv7), for this many objects that an example tells of. */
export function exampleId(number: number): string {
  return `01980000-0000-7000-8000-${String(number).padStart(12, '0')}`
}

export const exampleTime = '2026-01-31T09:30:00.000Z'

/** What every object has before its own fields. */
export function exampleIdentity(object: string) {
  return { id: exampleId(3), object, organizationId: exampleId(0), createdAt: exampleTime }
}

/** The pagination of a list that shows all there is. */
export const examplePagination = { total: 1, limit: 20, offset: 0, hasMore: false }

/** A list with this one record. */
export function exampleList(record: unknown) {
  return { data: [record], pagination: examplePagination }
}
