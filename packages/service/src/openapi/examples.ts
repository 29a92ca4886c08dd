/** Values for examples: constant, and in the form of real responses. */

/** The id (UUIDv7) of the example object with this number. */
export function exampleId(number: number): string {
  return `01980000-0000-7000-8000-${String(number).padStart(12, '0')}`
}

export const exampleTime = '2026-01-31T09:30:00.000Z'

/** The fields that every object begins with. */
export function exampleIdentity(object: string) {
  return { id: exampleId(3), object, organizationId: exampleId(0), createdAt: exampleTime }
}

export const examplePagination = { total: 1, limit: 20, offset: 0, hasMore: false }

export function exampleList(record: unknown) {
  return { data: [record], pagination: examplePagination }
}
