/** Sign-in by a link, and sign-out. Links let people without a key in, also from within other products. */
import { answerOf, api } from '../api/client.ts'
import { ApiProblem } from '../api/problem.ts'
import { forgetDrafts } from './drafts.ts'
import { askForLink, beginSession, endSession, refuseSession, sessionLink, sessionToken } from './store.ts'

const mark = '#link='

/**
 * Exchanges the link in the address, if there is one, for a session, and removes it from the address and the history.
 * A signed-in user is asked first, as anybody can send a link to a desk of their own. A page that shows the console
 * in a frame is trusted. If the service cannot be reached, the link stays in the address for another try.
 */
export async function openLink(): Promise<void> {
  const { hash, pathname, search } = window.location
  if (!hash.startsWith(mark)) return
  const link = hash.slice(mark.length)
  const isFramed = window.parent !== window
  if (!isFramed && sessionToken() !== null && (await isSignedIn())) {
    askForLink(link)
  } else {
    try {
      await exchange(link)
    } catch (error) {
      refuseSession(whyNot(error))
      if (!isNoLink(error)) return
    }
  }
  window.history.replaceState(window.history.state, '', pathname + search)
}

/** Whether the session still works, as far as can be found out. */
async function isSignedIn(): Promise<boolean> {
  try {
    await answerOf(api().organization.get())
  } catch {
    // A 401 has ended it.
  }
  return sessionToken() !== null
}

/** `forget`: drops what the page knows of the previous session. */
async function exchange(link: string, forget = () => {}): Promise<void> {
  const { id, token } = await answerOf(api().consoleLinks.exchange({ link: decodeURIComponent(link) }))
  forget()
  beginSession(token, id)
}

function isNoLink(error: unknown): boolean {
  return error instanceof URIError || (error instanceof ApiProblem && [404, 422].includes(error.status))
}

function whyNot(error: unknown): string {
  return isNoLink(error)
    ? 'This link is no longer valid: it was used, has expired or was deleted. Ask for a new one.'
    : 'Cannot reach the service to open this link. Reload the page.'
}

/** Uses the link, and ends the session that it replaces. Returns why the link was not used; null when it was. */
export async function switchTo(link: string, forget: () => void): Promise<string | null> {
  const [token, id] = [sessionToken(), sessionLink()]
  try {
    await exchange(link, forget)
  } catch (error) {
    return isNoLink(error) ? whyNot(error) : 'Cannot reach the service to open this link. Try again.'
  }
  endAtService(token, id)
  return null
}

/** Pasting a link where the console is open only changes the fragment: treats it like opening the page. */
export function watchForLinks(): void {
  window.addEventListener('hashchange', () => {
    if (window.location.hash.startsWith(mark)) window.location.reload()
  })
}

/** Forgets the key. A session of a link is ended everywhere, by the link's expiry if the service is unreachable. */
export function signOut(): void {
  const [token, id] = [sessionToken(), sessionLink()]
  endSession(null)
  forgetDrafts()
  endAtService(token, id)
}

function endAtService(token: string | null, id: string | null): void {
  if (token === null || id === null) return
  const headers = { authorization: `Bearer ${token}` }
  // Not by the client: the page may be left meanwhile.
  const address = `/v1/console-links/${encodeURIComponent(id)}`
  void fetch(address, { method: 'DELETE', headers, keepalive: true }).catch(() => {})
}
