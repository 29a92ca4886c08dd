/**
 * What of the console is shown, as its address says, for a page within another product. It is no limit of what the
 * session may do: its scopes are.
 */
import { useSearch } from '@tanstack/react-router'

interface View {
  /** `chrome=none`: no sidebar, account and palette. */
  readonly isBare: boolean
  /** `sections=endpoints,deliveries`: those screens alone. */
  readonly isSectioned: boolean
  readonly shows: (path: string) => boolean
}

export function useView(): View {
  const { chrome, sections } = useSearch({ strict: false })
  const named = sections?.split(',')
  return {
    isBare: chrome === 'none',
    isSectioned: named !== undefined,
    shows: (path) => named?.includes(path.slice(1) || 'overview') ?? true,
  }
}
