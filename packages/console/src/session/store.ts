/**
 * The session of this tab: the key, or the session token of a link, in the tab's session storage and nowhere else. An
 * ended session says why until the next begins.
 */
import { useSyncExternalStore } from 'react'

const places = { token: 'deskwire.key', linkId: 'deskwire.link' } as const

interface Session {
  readonly token: string | null
  /** The link that began the session, by which it is ended; null for a key. */
  readonly linkId: string | null
  /** Why the last session ended; null where there was none. */
  readonly ended: string | null
  /** A link that was opened meanwhile, to be used if the user agrees. */
  readonly asked: string | null
}

let session: Session = {
  token: stored(places.token),
  linkId: stored(places.linkId),
  ended: null,
  asked: null,
}
const listeners = new Set<() => void>()

/** A browser may forbid storage: then the key lasts as long as the page. */
function stored(place: string): string | null {
  try {
    return sessionStorage.getItem(place)
  } catch {
    return null
  }
}

function become(next: Session): void {
  session = next
  try {
    for (const [name, place] of Object.entries(places)) {
      const value = next[name as keyof typeof places]
      if (value === null) sessionStorage.removeItem(place)
      else sessionStorage.setItem(place, value)
    }
  } catch {
    // As above.
  }
  for (const listener of listeners) listener()
}

export function sessionToken(): string | null {
  return session.token
}

/** The link that began the session; null for a key. */
export function sessionLink(): string | null {
  return session.linkId
}

export function beginSession(token: string, linkId: string | null = null): void {
  become({ token, linkId, ended: null, asked: null })
}

/** `reason` is shown at sign-in; null after a sign-out. */
export function endSession(reason: string | null): void {
  if (session.token !== null) refuseSession(reason)
}

/** For a session that could not begin. */
export function refuseSession(reason: string | null): void {
  become({ token: null, linkId: null, ended: reason, asked: null })
}

/** Asks whether this link is to replace the session; null ends the question. */
export function askForLink(link: string | null): void {
  become({ ...session, asked: link })
}

export function useSession(): Session {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => session,
  )
}
