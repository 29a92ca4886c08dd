/** A request as it is written: by the byte, in pieces that join to the whole, and never with a header that is two. */
import { describe, expect, test } from 'vitest'
import { type Request, type RequestPieces, requestPieces } from '../../src/delivery/send/exchange.ts'

const pieceLength = 64 * 1024
const bytesOf = (pieces: RequestPieces) => Buffer.concat(pieces.map((piece) => Buffer.from(piece as string)))
const piecesOf = (request: Partial<Request>) =>
  requestPieces('hook.test:8443', { path: '/a/b?c=d', headers: {}, body: '', ...request })

/** The head of a request without headers of its own. */
const headOf = (length: number) =>
  `POST /a/b?c=d HTTP/1.1\r\nhost: hook.test:8443\r\nconnection: keep-alive\r\ncontent-length: ${length}\r\n\r\n`

describe('a small request is one piece', () => {
  test.each<[string, Request['body'], number]>([
    ['no body', '', 0],
    ['text', '{"a":1}', 7],
    ['text beyond ASCII', '{"name":"Zoë 👋"}', 20],
    ['bytes', Buffer.from('{"a":1}'), 7],
    ['bytes that are no text', Buffer.from([0, 0xff, 0x0d, 0x0a, 0x80]), 5],
  ])('with %s', (_what, body, length) => {
    const pieces = piecesOf({ body })
    expect(pieces.length).toBe(1)
    expect(bytesOf(pieces)).toEqual(Buffer.concat([Buffer.from(headOf(length)), Buffer.from(body as string)]))
  })

  test('with its headers in their order, behind those of every request', () => {
    const headers = { 'content-type': 'application/json', 'X-Signature': 't=1,\tv1=a b~', 'x-empty': '' }
    expect(bytesOf(piecesOf({ headers, body: 'x' })).toString()).toBe(
      'POST /a/b?c=d HTTP/1.1\r\nhost: hook.test:8443\r\nconnection: keep-alive\r\ncontent-length: 1\r\n' +
        'content-type: application/json\r\nX-Signature: t=1,\tv1=a b~\r\nx-empty: \r\n\r\nx',
    )
  })
})

describe('a large body goes in pieces', () => {
  const numbered = (length: number) => Buffer.from(Array.from({ length }, (_, index) => index % 251))

  test.each([
    [pieceLength - 1, []],
    [pieceLength, []],
    [pieceLength + 1, [pieceLength, 1]],
    [2 * pieceLength, [pieceLength, pieceLength]],
    [2 * pieceLength + 1, [pieceLength, pieceLength, 1]],
  ])('%i bytes behind the head: %j', (length, lengths) => {
    const body = numbered(length)
    const pieces = piecesOf({ body })
    expect(pieces.slice(1).map((piece) => piece.length)).toEqual(lengths)
    expect(bytesOf(pieces).equals(Buffer.concat([Buffer.from(headOf(length)), body]))).toBe(true)
    expect(Buffer.from(pieces.at(-1) as string).at(-1)).toBe(body.at(-1))
  })

  test('and a text by its bytes, also within a character', () => {
    const body = `x${'ë'.repeat(pieceLength / 2)}`
    const pieces = piecesOf({ body })
    expect(pieces.slice(1).map((piece) => piece.length)).toEqual([pieceLength, 1])
    expect(bytesOf(pieces).toString()).toBe(headOf(pieceLength + 1) + body)
  })
})

describe('no request has a header', () => {
  test.each(['', ' ', 'a b', 'a:', 'a\r', 'a\n', 'a\r\nb: c', 'a\0', 'ä', 'a\xa0', 'a(', '"a"', ':a', 'a\t'])(
    'with the name %j',
    (name) => {
      const refused = () => piecesOf({ headers: { 'x-good': 'a', [name]: 'b' } })
      expect(refused).toThrow(new TypeError(`The header ${JSON.stringify(name)} is invalid`))
    },
  )

  test.each(['\r', '\n', 'a\r\nb: c', 'a\n b', '\0', 'a\x7f', '\x1b', 'ä', '\xa0', '👋', '\u2028', '\u010a'])(
    'with the value %j, which the error does not repeat',
    (value) => {
      const refused = () => piecesOf({ headers: { 'x-good': 'a', 'X-Bad': value } })
      expect(refused).toThrow(new TypeError('The header "X-Bad" is invalid'))
    },
  )
})
