/** Addresses that the palette led to recently, in this tab and with this key. */
import { readJson } from '@deskwire/sdk/json'

interface Recent {
  readonly id: string
  readonly title: string
  readonly detail?: string
  /** Of the console. */
  readonly address: string
}

const place = 'deskwire.recent'
const maxAddresses = 6

interface Stored {
  /** Of the key: another key has its own. */
  readonly of: string
  readonly places: readonly Recent[]
}

export function recentOf(keyId: string): readonly Recent[] {
  try {
    const stored: Stored | null = readJson(sessionStorage.getItem(place) ?? 'null')
    return stored?.of === keyId ? stored.places : []
  } catch {
    // A browser may forbid storage.
    return []
  }
}

export function remember(keyId: string, visited: Recent): void {
  const others = recentOf(keyId).filter(({ address }) => address !== visited.address)
  const stored: Stored = { of: keyId, places: [visited, ...others].slice(0, maxAddresses) }
  try {
    sessionStorage.setItem(place, JSON.stringify(stored))
  } catch {
    // As above.
  }
}
