/** Addresses that the palette led to recently, in this tab and with these rights: kept and forgotten as drafts are. */
import { readJson } from '@deskwire/sdk/json'
import type { ApiKey } from '../api/client.ts'
import type { Command } from '../router/screen.ts'
import { draftOf, keepDraft } from '../session/drafts.ts'

interface Recent extends Pick<Command, 'id' | 'title' | 'detail' | 'about' | 'customerId'> {
  /** Of the console. */
  readonly address: string
}

const name = 'recent'
const maxAddresses = 6

interface Stored {
  /** The key and what the session may do, as titles are of objects that it may read. */
  readonly of: string
  readonly places: readonly Recent[]
}

function rightsOf({ id, scopes }: ApiKey): string {
  return [id, ...scopes].join()
}

export function recentOf(key: ApiKey): readonly Recent[] {
  const stored = readJson<Stored | null>(draftOf(name) ?? 'null')
  return stored?.of === rightsOf(key) ? stored.places : []
}

export function remember(key: ApiKey, visited: Recent): void {
  const others = recentOf(key).filter(({ address }) => address !== visited.address)
  const stored: Stored = { of: rightsOf(key), places: [visited, ...others].slice(0, maxAddresses) }
  keepDraft(name, JSON.stringify(stored))
}
