/** Whether a part of an address is UTF-8 in percent-encoding. */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
