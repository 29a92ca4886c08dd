/**
 * What was typed and not sent, for as long as the tab is open: it outlives a reload and an ended session, and is forgotten
 * when the user signs out.
 */
const prefix = 'deskwire.draft.'

export function draftOf(name: string): string | null {
  try {
    return sessionStorage.getItem(prefix + name)
  } catch {
    return null
  }
}

/** Null forgets it. */
export function keepDraft(name: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(prefix + name)
    else sessionStorage.setItem(prefix + name, text)
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
