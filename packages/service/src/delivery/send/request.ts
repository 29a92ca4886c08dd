/** A request as it goes out: a head that any receiver can read, and the body behind it, at once or in pieces. */

export interface Request {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | string
}

/** What is written to the socket, in its order. Until the last piece is handed over, no receiver can have the whole request. */
export type RequestPieces = readonly (Buffer | string)[]

/** Larger bodies go in pieces of this size, each when the socket has room for it. */
const pieceLength = 64 * 1024

const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const fieldValue = /^[\t\x20-\x7e]*$/

/** A POST. Throws when a header is none that a request can carry. */
export function requestPieces(host: string, { path, headers, body }: Request): RequestPieces {
  const length = Buffer.byteLength(body)
  let head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\ncontent-length: ${length}\r\n`
  for (const name in headers) {
    const value = headers[name] as string
    if (!fieldName.test(name) || !fieldValue.test(value))
      throw new TypeError(`The header ${JSON.stringify(name)} is invalid`)
    head += `${name}: ${value}\r\n`
  }
  head += '\r\n'
  if (length <= pieceLength)
    return [typeof body === 'string' ? head + body : Buffer.concat([Buffer.from(head), body])]
  const bytes = Buffer.from(body)
  const pieces: (Buffer | string)[] = [head]
  for (let at = 0; at < length; at += pieceLength) pieces.push(bytes.subarray(at, at + pieceLength))
  return pieces
}
