/**
 * The session of this browser's tabs: the key, or the session token of a link, in the session storage of each tab and
 * nowhere else. A new tab asks the open ones for it. An ended session says why until the next begins.
 */
import { useSyncExternalStore } from 'react'

const places = {
  token: 'deskwire.key',
  linkId: 'deskwire.link',
  teammateId: 'deskwire.teammate',
  unsigned: 'deskwire.unsigned',
  organization: 'deskwire.organization',
} as const

interface Session {
  readonly token: string | null
  /** The link that began the session, by which it is ended; null for a key. */
  readonly linkId: string | null
  /** Who replies: the teammate that the user said to be; null until then. */
  readonly teammateId: string | null
  /** `yes` where the user said to reply as no teammate. */
  readonly unsigned: string | null
  /** As JSON, as it was read last: a page that is loaded shows it at once. */
  readonly organization: string | null
  /** Why the last session ended; null where there was none. */
  readonly ended: string | null
  /** A link that was opened meanwhile, to be used if the user agrees. */
  readonly asked: string | null
}

const nobody: Session = {
  token: null,
  linkId: null,
  teammateId: null,
  unsigned: null,
  organization: null,
  ended: null,
  asked: null,
}

let session: Session = {
  token: stored(places.token),
  linkId: stored(places.linkId),
  teammateId: stored(places.teammateId),
  unsigned: stored(places.unsigned),
  organization: stored(places.organization),
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
  become({ ...nobody, token, linkId })
}

export function sessionOrganization(): string | null {
  return session.organization
}

export function keepOrganization(organization: string): void {
  if (organization !== session.organization) become({ ...session, organization })
}

/** `reason` is shown at sign-in; null after a sign-out. */
export function endSession(reason: string | null): void {
  const { token } = session
  if (token === null) return
  refuseSession(reason)
  send({ does: 'end', token, reason })
}

/** For a session that could not begin. */
export function refuseSession(reason: string | null): void {
  become({ ...nobody, ended: reason })
}

/** Asks whether this link is to replace the session; null ends the question. */
export function askForLink(link: string | null): void {
  become({ ...session, asked: link })
}

/** Says which teammate the user is, or `nobody`, in every tab of the session. */
export function beTeammate(who: string | null): void {
  const isNobody = who === 'nobody'
  const teammate = { teammateId: isNobody ? null : who, unsigned: isNobody ? 'yes' : null }
  become({ ...session, ...teammate })
  if (session.token !== null) send({ does: 'be', token: session.token, ...teammate })
}

type Said =
  | { readonly does: 'ask' }
  | ({ readonly does: 'give' } & Pick<Session, keyof typeof places>)
  | ({ readonly does: 'be'; readonly token: string } & Pick<Session, 'teammateId' | 'unsigned'>)
  | { readonly does: 'end'; readonly token: string; readonly reason: string | null }

/** Pages of this origin alone hear it. A page in a frame of another product keeps its session to itself. */
const tabs =
  window.parent === window && 'BroadcastChannel' in window ? new BroadcastChannel('deskwire.session') : null

function send(said: Said): void {
  tabs?.postMessage(said)
}

/** Milliseconds that a new tab waits for the others. */
const answersWithin = 150

/**
 * Takes over the session of another tab, if this one has none, and keeps to it from then on. `onSignOut`: in another
 * tab.
 */
export function joinTabs(onSignOut: () => void): Promise<void> {
  return new Promise((resolve) => {
    if (tabs === null) return resolve()
    tabs.onmessage = ({ data: said }: MessageEvent<Said>) => {
      const { token, linkId, teammateId, unsigned, organization } = session
      if (said.does === 'ask') {
        if (token !== null) send({ does: 'give', token, linkId, teammateId, unsigned, organization })
      } else if (said.does === 'give') {
        if (token !== null || hasJoined) return
        const { does, ...given } = said
        become({ ...session, ...given })
        resolve()
      } else if (said.token === token) {
        if (said.does === 'be') become({ ...session, teammateId: said.teammateId, unsigned: said.unsigned })
        else {
          refuseSession(said.reason)
          if (said.reason === null) onSignOut()
        }
      }
    }
    let hasJoined = session.token !== null
    if (hasJoined) return resolve()
    send({ does: 'ask' })
    setTimeout(() => {
      hasJoined = true
      resolve()
    }, answersWithin)
  })
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
