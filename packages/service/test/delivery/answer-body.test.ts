/** Bodies, above all those in chunks: where they end, and which are broken. Then the status stands, and the connection goes. */
import { describe, expect, test } from 'vitest'
import { outcomeOf } from './generated-response.fixture.ts'

const inChunks = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
const readChunks = (bytes: string) => outcomeOf([inChunks + bytes])
const last = '0\r\n\r\n'

describe('the line before a chunk', () => {
  test.each(['2', '0002', '0000000000000002', '2;a', '2;a=b', '2;a;b=c;d', '2;a="b;\\"\\\\ \xe4"', '2;a=""'])(
    '%j is read',
    (line) => {
      const outcome = readChunks(`${line}\r\nok\r\n${last}`)
      expect(outcome).toMatchObject({ progress: 'complete', status: 200, text: 'ok', reusable: true })
    },
  )

  test.each([
    '',
    ' 2',
    '2 ',
    '2\t',
    '+2',
    '-2',
    '0x2',
    '2.0',
    'g',
    '\xb2',
    '00000000000000002',
    '2,2',
    '2;',
    '2; a',
    '2 ;a',
    '2;a b',
    '2;a=',
    '2;a=;b',
    '2;=b',
    '2;;a',
    '2;a="',
    '2;a="b"c',
    '2;a="\\"',
    '2;a="\0"',
    '2;\xe4',
    '2\r',
    '2\n',
    '2;a\rb',
  ])('%j is broken', (line) => {
    const outcome = readChunks(`${line}\r\nok\r\n${last}`)
    expect(outcome).toMatchObject({ progress: 'complete', status: 200, text: '', reusable: false })
  })

  test('has sixteen digits of any case', () => {
    expect(
      readChunks(`0000000000000a\r\n0123456789\r\n00000000000000B\r\n0123456789a\r\n${last}`),
    ).toMatchObject({
      text: '01234567890123456789a',
      reusable: true,
    })
    expect(readChunks('FFFFFFFFFFFFFFFF\r\nab')).toMatchObject({ progress: 'more', text: 'ab' })
  })
})

test.each(['okx\r\n', 'ok\n', 'ok\r', 'ok\r\r\n', 'ok0\r\n\r\n', 'o\r\n'])(
  'a chunk of two bytes that is %j is broken',
  (data) => {
    const outcome = readChunks(`2\r\n${data}${last}`)
    expect(outcome).toMatchObject({ progress: 'complete', status: 200, reusable: false })
  },
)

describe('behind the last chunk', () => {
  test.each(['', 'a: b\r\n', 'a:\r\nB: c\r\n', 'x-content-length: 5\r\n'])('%j is read past', (lines) => {
    const outcome = readChunks(`2\r\nok\r\n0\r\n${lines}\r\n`)
    expect(outcome).toMatchObject({ progress: 'complete', status: 200, text: 'ok', reusable: true })
  })

  test.each([
    'banana\r\n',
    ' a: b\r\n',
    'a : b\r\n',
    'a: b\r\n c\r\n',
    'a: b\n',
    'a: \x01\r\n',
    'HTTP/1.1 200 OK\r\n',
    'Content-Length: 5\r\n',
    'transfer-encoding: chunked\r\n',
    'connection: close\r\n',
    'keep-alive: timeout=1\r\n',
    '\n',
  ])('%j is broken', (lines) => {
    const outcome = readChunks(`2\r\nok\r\n0\r\n${lines}\r\n`)
    expect(outcome).toMatchObject({ progress: 'complete', status: 200, text: 'ok', reusable: false })
  })
})

describe('the limit of 16 KiB', () => {
  const limit = 16 * 1024
  const bodies: readonly (readonly [string, (body: string) => string])[] = [
    ['of a length', (body) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`],
    ['in one chunk', (body) => `${inChunks}${body.length.toString(16)}\r\n${body}\r\n${last}`],
    [
      'in small chunks',
      (body) => `${inChunks}${body.replace(/x{1,4}/g, (data) => `${data.length}\r\n${data}\r\n`)}${last}`,
    ],
  ]

  test.each(bodies)('a body %s of just as much is read to its end', (_what, written) => {
    const bytes = written('x'.repeat(limit))
    for (const pieces of [[bytes], [...bytes]])
      expect(outcomeOf(pieces)).toMatchObject({
        progress: 'complete',
        text: 'x'.repeat(1024),
        reusable: true,
      })
  })

  test.each(bodies)('a body %s of a byte more is cut', (_what, written) => {
    const bytes = written('x'.repeat(limit + 1))
    for (const pieces of [[bytes], [...bytes]])
      expect(outcomeOf(pieces)).toMatchObject({
        progress: 'complete',
        text: 'x'.repeat(1024),
        reusable: false,
      })
  })

  test('a body until the end of the connection is cut', () => {
    const bytes = `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(limit)}`
    expect(outcomeOf([bytes])).toMatchObject({ progress: 'more', text: 'x'.repeat(1024) })
    expect(outcomeOf([bytes, 'x'])).toMatchObject({ progress: 'complete', reusable: false })
  })
})

describe('the limit of 64 KiB around chunks', () => {
  const limit = 64 * 1024
  /** A line with its end, of so many bytes. */
  const line = (begin: string, length: number) => `${begin}${'x'.repeat(length - begin.length - 2)}\r\n`

  test.each([
    ['one extension', (length: number) => `${line('0;', length - 2)}\r\n`],
    ['trailers', (length: number) => `0\r\n${'a: b\r\n'.repeat(1000)}${line('c: ', length - 6005)}\r\n`],
  ])('%s', (_what, framing) => {
    expect(framing(limit).length).toBe(limit)
    expect(readChunks(framing(limit))).toMatchObject({ progress: 'complete', reusable: true })
    expect(readChunks(framing(limit + 1))).toMatchObject({ progress: 'complete', reusable: false })
  })

  test('a line without end', () => {
    expect(readChunks(`0;${'x'.repeat(limit - 2)}`)).toMatchObject({ progress: 'more', reusable: false })
    expect(readChunks(`0;${'x'.repeat(limit - 1)}`)).toMatchObject({ progress: 'complete', reusable: false })
  })
})
