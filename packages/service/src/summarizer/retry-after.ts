const day = 86_400_000

/**
 * Milliseconds that a Retry-After header asks to wait, a day at most: whole seconds, or until an HTTP date. Null when
 * it asks for nothing that can be read.
 */
export function parseRetryAfter(value: string | string[] | undefined, now: number): number | null {
  const text = [value].flat()[0]?.trim() ?? ''
  const isDate = text.endsWith(' GMT')
  const wait = /^\d+$/.test(text) ? Number(text) * 1_000 : isDate ? Date.parse(text) - now : Number.NaN
  return Number.isNaN(wait) ? null : Math.min(Math.max(wait, 0), day)
}
