/** Why a browser keeps an answer from a page. */
import { pageOrigin } from './environment.ts'

/**
 * A browser does not say why it keeps an answer from a page. This asks again, without the key, in the way that needs
 * no consent; undefined outside of pages, and where the page is of the service itself.
 */
export const whyBlocked = async (cause: unknown, address: string): Promise<string | undefined> => {
  const page = pageOrigin()
  const { host, origin } = new URL(address)
  if (page === undefined || page === origin || (cause as Error | undefined)?.name !== 'TypeError') return
  const probe = { method: 'HEAD', mode: 'no-cors', credentials: 'omit', cache: 'no-store' } as const
  try {
    await globalThis.fetch(address, { ...probe, signal: AbortSignal.timeout(5_000) })
  } catch {
    return `${host} cannot be reached from this page: nothing answers there, its certificate is not accepted, or the browser blocks it. Its console says which.`
  }
  return `${host} answers, and the browser keeps that from pages of ${page}. The operator of the service allows them by DESKWIRE_CORS_ORIGINS.`
}
