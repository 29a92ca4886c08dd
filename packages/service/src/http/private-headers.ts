/** What every answer below /v1 says to whatever stands between it and its caller (specification 1.2). */

/** No shared cache keeps it, others ask again before they use it, and nobody takes it for another type than it says. */
export const privateHeaders = {
  'cache-control': 'private, no-cache',
  'x-content-type-options': 'nosniff',
} as const

/** Whether an address is one of the API, also where it leads nowhere. */
export function isPrivate(url: string): boolean {
  return /^\/v1(?:[/?#]|$)/.test(url)
}
