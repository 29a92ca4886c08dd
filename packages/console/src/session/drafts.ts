/**
 * What was typed and not sent, for as long as the tab is open: it outlives a reload and an ended session, and is
 * forgotten when the user signs out. It belongs to the organization, and within it to whoever has a key, or to the
 * session of one link: who opens another link may be somebody else.
 */
import { readJson } from '@deskwire/sdk/json'
import { sessionLink, sessionOrganization } from './store.ts'

const prefix = 'deskwire.draft.'

function placeOf(name: string): string {
  const organization = readJson<{ readonly id: string } | null>(sessionOrganization() ?? 'null')
  return `${prefix}${organization?.id}.${sessionLink() ?? 'key'}.${name}`
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
  forgetWhere(() => true)
}

/** Of a removed object: those that are about it, and those that mention it. */
export function forgetDraftsOf(id: string): void {
  forgetWhere((name, text) => name.includes(id) || text.includes(id))
}

function forgetWhere(isForgotten: (name: string, text: string) => boolean): void {
  try {
    for (const [name, text] of Object.entries(sessionStorage)) {
      if (name.startsWith(prefix) && isForgotten(name, text)) sessionStorage.removeItem(name)
    }
  } catch {
    // As above.
  }
}
