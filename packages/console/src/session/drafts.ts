/**
 * What was typed and not sent to an organization, for as long as the tab is open: it outlives a reload and an ended session,
 * and is forgotten when the user signs out. A link may lead to another organization, which has drafts of its own.
 */
import { readJson } from '@deskwire/sdk/json'
import { sessionOrganization } from './store.ts'

const prefix = 'deskwire.draft.'

function placeOf(name: string): string {
  const organization = readJson<{ readonly id: string } | null>(sessionOrganization() ?? 'null')
  return `${prefix}${organization?.id}.${name}`
}

export function draftOf(name: string): string | null {
  try {
    return sessionStorage.getItem(placeOf(name))
  } catch {
    return null
  }
}

/** Null forgets it. */
export function keepDraft(name: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(placeOf(name))
    else sessionStorage.setItem(placeOf(name), text)
  } catch {
    // A browser may forbid storage, or have no space left.
  }
}

export function forgetDrafts(): void {
  try {
    for (const name of Object.keys(sessionStorage)) {
      if (name.startsWith(prefix)) sessionStorage.removeItem(name)
    }
  } catch {
    // As above.
  }
}
