/**
 * The entity tag of a row, the value for `ifMatch` and `ifNoneMatch`. A row's bytes change only when its
 * `updatedAt` does, so the tag is `updatedAt` in quotes, and a row from a list, a sync or a webhook has one as
 * much as a row from a GET.
 */
export const etagOf = (row: { updatedAt: string }): string => `"${row.updatedAt}"`
