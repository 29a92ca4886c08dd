const hostPattern = /^(?:[a-z\d_](?:[\w.-]{0,253}[a-z\d_.])?|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i

/** A host name, an address of IPv4, or one of IPv6 in brackets, with or without a port. */
export function isHost(text: string): boolean {
  return hostPattern.test(text) && URL.canParse(`http://${text}`)
}

/** `https://desk.example` from the URL of a site without a path; undefined for any other text. */
export function parseOrigin(text: string): string | undefined {
  const [, scheme, host = ''] = /^(https?):\/\/([^/]+)\/?$/i.exec(text) ?? []
  return isHost(host) ? new URL(`${scheme}://${host}`).origin : undefined
}

/** Whether a part of an address is UTF-8 in percent-encoding. */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
