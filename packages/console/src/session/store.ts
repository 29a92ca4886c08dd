/**
 * Who is signed in, in this tab alone: the key stands in the tab's session storage, which ends with it, and nowhere else. A
 * session that has ended says why until the next begins.
 */
import { useSyncExternalStore } from 'react'

const place = 'deskwire.key'

interface Session {
  readonly token: string | null
  /** Why there is none any more; null where there was none. */
  readonly ended: string | null
}

let session: Session = { token: readToken(), ended: null }
const listeners = new Set<() => void>()

/** A browser may forbid storage: then the key lasts as long as the page. */
function readToken(): string | null {
  try {
    return sessionStorage.getItem(place)
  } catch {
    return null
  }
}

function become(next: Session): void {
  session = next
  try {
    if (next.token === null) sessionStorage.removeItem(place)
    else sessionStorage.setItem(place, next.token)
  } catch {
    // As above.
  }
  for (const listener of listeners) listener()
}

export function sessionToken(): string | null {
  return session.token
}

export function beginSession(token: string): void {
  become({ token, ended: null })
}

/** `reason` is shown where one signs in again, at the same place; null for whoever leaves. */
export function endSession(reason: string | null): void {
  if (session.token !== null) become({ token: null, ended: reason })
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
