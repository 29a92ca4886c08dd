/** Where calls go, and as whom: read alike by all clients (`conformance/clients.json`). */

/**
 * The base address of an API: `http://127.0.0.1:8080` and `http://127.0.0.1:8080/v1/` are the same one. Spaces and
 * line breaks around it are left out. Throws TypeError for what is no such address.
 */
export const baseAddress = (text: string): string => {
  const trimmed = text.trim()
  const url = !/\s/.test(trimmed) && URL.canParse(trimmed) ? new URL(trimmed) : undefined
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.username + url.password !== '' ||
    /[?#]/.test(trimmed)
  ) {
    throw new TypeError(`baseUrl must be http(s)://HOST without user, query or fragment, not ${text}`)
  }
  const address = url.origin + url.pathname.replace(/\/+$/, '')
  return /\/v\d+$/.test(address) ? address : `${address}/v1`
}

/** An API key without the spaces and line breaks around it. Throws TypeError for one with others within. */
export const keyText = (text: string): string => {
  const key = text.trim()
  if (/^[!-~]+$/.test(key)) return key
  throw new TypeError('apiKey has characters that no key has: spaces or a line break, perhaps')
}

/**
 * A path with these ids for each `{}` in it. An empty or dotted id would address the list or its parent, so it is
 * refused before anything is sent.
 */
export const pathOf = (path: string, [...ids]: readonly string[]): string =>
  path.replaceAll('{}', () => {
    const id = ids.shift()
    if (typeof id === 'string' && !/^\.{0,2}$/.test(id)) return encodeURIComponent(id)
    throw new TypeError(`An id is a UUID, not ${JSON.stringify(id)}`)
  })
