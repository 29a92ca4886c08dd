/** Coming in by a link, and going for good: what lets people without a key in, and products show the console to theirs. */
import { answerOf, api } from '../api/client.ts'
import { ApiProblem } from '../api/problem.ts'
import { beginSession, endSession, refuseSession, sessionLink, sessionToken } from './store.ts'

const mark = '#link='

/**
 * Exchanges the link in the address, if there is one, for a session, and takes it out of the address and the tab's history. A link
 * that is refused leaves nobody signed in: who was before it is perhaps not who has opened it. Where the service cannot be reached
 * the link stays in the address, for another try.
 */
export async function openLink(): Promise<void> {
  const { hash, pathname, search } = window.location
  if (!hash.startsWith(mark)) return
  try {
    const link = decodeURIComponent(hash.slice(mark.length))
    const { id, token } = await answerOf(api.POST('/v1/console-links/exchange', { body: { link } }))
    beginSession(token, id)
  } catch (error) {
    const isNoLink =
      error instanceof URIError || (error instanceof ApiProblem && [404, 422].includes(error.status))
    refuseSession(
      isNoLink
        ? 'This link does not open the console: it was used already, has ended, or was deleted. Ask for a new one.'
        : 'The service could not be reached to open this link. Load the page again.',
    )
    if (!isNoLink) return
  }
  window.history.replaceState(window.history.state, '', pathname + search)
}

/** A link that is pasted where the console is open changes the fragment alone: then it is as if the page were opened with it. */
export function watchForLinks(): void {
  window.addEventListener('hashchange', () => {
    if (window.location.hash.startsWith(mark)) window.location.reload()
  })
}

/** Forgets the key. A session that came of a link is ended for everybody; unreachable, the service ends it at the link's end. */
export function signOut(): void {
  const [token, id] = [sessionToken(), sessionLink()]
  endSession(null)
  if (token === null || id === null) return
  const headers = { authorization: `Bearer ${token}` }
  void api
    .DELETE('/v1/console-links/{id}', { params: { path: { id } }, headers, keepalive: true })
    .catch(() => {})
}
