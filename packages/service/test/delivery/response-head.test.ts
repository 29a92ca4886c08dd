/**
 * What a head says. Of one that two readers may read differently the status stands, and nothing else: no body of it is read, and
 * the connection carries nothing after it.
 */
import { describe, expect, test } from 'vitest'
import { outcomeOf } from './generated-response.fixture.ts'

const ok = 'HTTP/1.1 200 OK\r\n'
const read = (bytes: string) => outcomeOf([bytes])
/** What is read of such a head. */
const statusAlone = { progress: 'complete', status: 200, text: '', reusable: false, keepAliveMs: null }

/** What is read of a body in chunks, under this head. */
const chunked = (fields: string, version = '1.1') =>
  read(`HTTP/${version} 200 OK\r\n${fields}\r\n\r\n2\r\nok\r\n0\r\n\r\n`)

describe('the status line', () => {
  test.each([
    ['HTTP/1.1 200', 200],
    ['HTTP/1.1 200 ', 200],
    ['HTTP/1.1 200  OK', 200],
    ['HTTP/1.1 999 \t\xe4\xff', 999],
    ['HTTP/1.0 200 OK', 200],
  ])('%j is read', (line, status) => {
    expect(read(`${line}\r\n\r\n`)).toMatchObject({ progress: 'more', status })
  })

  test.each([
    'HTTP/1.1200',
    'HTTP/1.1  200',
    'HTTP/1.1\t200',
    'HTTP/1.1 200OK',
    'HTTP/1.1 200\tOK',
    'HTTP/1.1 099',
    'HTTP/1.1 20',
    'HTTP/1.1 2000',
    'HTTP/1.1 20\xb2',
    'HTTP/1.1 200 O\0K',
    'HTTP/1.1 200 O\x7fK',
    'HTTP/1.1 200 O\rK',
    'HTTP/1.2 200 OK',
    'HTTP/2.0 200 OK',
    'HTTP/1.1',
    'http/1.1 200 OK',
    ' HTTP/1.1 200 OK',
    '\r\nHTTP/1.1 200 OK',
    '',
  ])('%j is refused', (line) => {
    expect(read(`${line}\r\n\r\n`)).toMatchObject({ progress: 'malformed', status: 0 })
  })
})

describe('a line', () => {
  test.each([
    ['without a name', ': a'],
    ['without a colon', 'a'],
    ['with a space before the colon', 'a : b'],
    ['with a tab before the colon', 'a\t: b'],
    ['with a space before the name', ' a: b'],
    ['that goes on', 'a: b\r\n c'],
    ['whose name is beyond ASCII', '\xe4: b'],
    ['whose name has a bracket', 'a(: b'],
    ['with a zero character', 'a: \0'],
    ['with a delete character', 'a: \x7f'],
    ['with a carriage return', 'a: b\rc: d'],
    ['with two carriage returns', 'a: b\r'],
    ['that ends with a line feed alone', 'a: b\nc: d'],
  ])('%s leaves the status alone', (_what, line) => {
    const head = `${ok}${line}\r\ncontent-length: 2\r\nkeep-alive: timeout=5\r\n`
    // Not before the head has ended.
    expect(read(head)).toMatchObject({ progress: 'more', status: 0 })
    expect(read(`${head}\r\nok`)).toEqual(statusAlone)
    expect(read(`${head}\r\n`)).toEqual(statusAlone)
  })

  test.each([
    ['the status line', 'HTTP/1.1 200 OK\ncontent-length: 2\r\n\r\nok'],
    ['the empty one', `${ok}content-length: 2\r\n\nok`],
    ['each', 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok'],
  ])('%s may end with a line feed alone, which leaves the status alone', (_what, bytes) => {
    expect(read(bytes)).toEqual(statusAlone)
  })
})

describe('a length', () => {
  test.each([
    ['0', ''],
    ['2', 'ok'],
    ['\t 2  ', 'ok'],
    ['002', 'ok'],
  ])('of %j is read', (value, text) => {
    const outcome = read(`${ok}Content-LENGTH:${value}\r\n\r\n${text}`)
    expect(outcome).toMatchObject({ progress: 'complete', status: 200, text, reusable: true })
  })

  test.each([
    '',
    ' ',
    '\xa02',
    '2\xa0',
    '2\t',
    '+2',
    '-2',
    '2.0',
    '2e0',
    '0x2',
    '2a',
    '2,2',
    '2, 2',
    '2 2',
    '"2"',
    '\xb2',
    '1'.repeat(16),
    '2\r\ncontent-length: 2',
    '2\r\ncontent-length: 3',
    '2\r\ntransfer-encoding: chunked',
    '2\r\ntransfer-encoding: gzip',
    '2\r\ntransfer-encoding:',
  ])('of %j leaves the status alone', (value) => {
    expect(read(`${ok}content-length:${value}\r\n\r\nok`)).toEqual(statusAlone)
  })
})

describe('a transfer coding', () => {
  test.each([
    'chunked',
    'Chunked',
    ' chunked ',
    'gzip, chunked',
    'gzip , chunked',
    'gzip\r\nTransfer-Encoding: chunked',
  ])('of %j is chunks', (value) => {
    const outcome = chunked(`transfer-encoding:${value}`)
    expect(outcome).toMatchObject({ progress: 'complete', status: 200, text: 'ok', reusable: true })
  })

  test.each([
    'chunked, gzip',
    'chunked\r\nTransfer-Encoding: gzip',
    'gzip',
    'identity',
    'xchunked',
    '"chunked"',
    'chunked;a=b',
  ])('of %j lasts until the connection ends', (value) => {
    const text = '2\r\nok\r\n0\r\n\r\n'
    expect(chunked(`transfer-encoding:${value}`)).toMatchObject({
      progress: 'more',
      status: 200,
      text,
      reusable: false,
    })
  })

  test.each([
    '',
    ' ',
    ',',
    'chunked,',
    'chunked, ,',
    ', chunked',
    'chunked\t',
    'gzip,\tchunked',
    'chunked\r\ntransfer-encoding:',
    'chunked\r\ncontent-length: 2',
  ])('of %j leaves the status alone', (value) => {
    expect(chunked(`transfer-encoding:${value}`)).toEqual(statusAlone)
  })

  test('of HTTP/1.0 is read, and the connection is not used again', () => {
    const outcome = chunked('connection: keep-alive\r\ntransfer-encoding: chunked', '1.0')
    expect(outcome).toMatchObject({ progress: 'complete', text: 'ok', reusable: false })
  })
})

describe('the connection', () => {
  test.each([
    ['1.1', 'x: y', true],
    ['1.1', 'connection: keep-alive', true],
    ['1.1', 'connection: closed', true],
    ['1.1', 'x-connection: close', true],
    ['1.1', 'Connection: Close', false],
    ['1.1', 'connection: x,close , y', false],
    ['1.1', 'connection: close, keep-alive', false],
    ['1.1', 'connection: keep-alive\r\nconnection: close', false],
    ['1.1', 'connection: close\t', false],
    ['1.0', 'x: y', false],
    ['1.0', 'connection: close', false],
    ['1.0', 'connection: Keep-Alive', true],
    ['1.0', 'connection: x, keep-alive', true],
    ['1.0', 'connection: keep-alive\t', false],
    ['1.0', 'connection: keep-alive, close', false],
  ])('of HTTP/%s with %j', (version, line, reusable) => {
    const outcome = read(`HTTP/${version} 200 OK\r\n${line}\r\ncontent-length: 2\r\n\r\nok`)
    expect(outcome).toMatchObject({ progress: 'complete', status: 200, text: 'ok', reusable })
  })

  test.each([
    ['x: y', null],
    ['keep-alive: timeout=5', 5_000],
    ['keep-alive: timeout=5, max=100', 5_000],
    ['keep-alive: max=100,timeout=5', 5_000],
    ['Keep-Alive: TIMEOUT=5', 5_000],
    ['keep-alive: timeout=0', 0],
    ['keep-alive: timeout=999999999', 999_999_999_000],
    ['keep-alive: timeout=9999999999', null],
    ['keep-alive: timeout=-1', null],
    ['keep-alive: timeout=1.5', null],
    ['keep-alive: timeout=5s', null],
    ['keep-alive: timeout=', null],
    ['keep-alive: timeout', null],
    ['keep-alive: xtimeout=5', null],
    ['keep-alive:', null],
    ['x-keep-alive: timeout=5', null],
  ])('is kept as %j says', (line, keepAliveMs) => {
    expect(read(`${ok}${line}\r\ncontent-length: 0\r\n\r\n`)).toMatchObject({ reusable: true, keepAliveMs })
  })
})

describe('an answer that has no body', () => {
  test.each([
    ['204', 'x: y', true],
    ['304', 'x: y', true],
    ['204', 'content-length: 0', true],
    // Whoever says so may send it.
    ['204', 'content-length: 2', false],
    ['304', 'content-length: 2', false],
    ['204', 'transfer-encoding: chunked', false],
    ['304', 'transfer-encoding: gzip', false],
  ])('a %s with %j is complete', (status, line, reusable) => {
    const outcome = read(`HTTP/1.1 ${status} None\r\n${line}\r\n\r\n`)
    expect(outcome).toMatchObject({ progress: 'complete', status: Number(status), text: '', reusable })
  })

  test('a 205 has the body that it says', () => {
    expect(read('HTTP/1.1 205 Reset\r\n\r\n')).toMatchObject({ progress: 'more', status: 205 })
    const outcome = read('HTTP/1.1 205 Reset\r\ncontent-length: 2\r\n\r\nok')
    expect(outcome).toMatchObject({ progress: 'complete', status: 205, text: 'ok', reusable: true })
  })
})

describe('an interim answer', () => {
  const statuses = Array.from({ length: 100 }, (_, index) => 100 + index).filter((status) => status !== 101)
  const final = `${ok}content-length: 2\r\n\r\nok`

  test.each(statuses)('%i decides nothing', (status) => {
    const interim = `HTTP/1.1 ${status} Wait\r\nkeep-alive: timeout=1\r\n\r\n`
    expect(read(interim)).toMatchObject({ progress: 'more', status: 0 })
    expect(read(interim + final)).toEqual({ ...read(final), keepAliveMs: null, reusable: true })
  })

  test('101 is refused', () => {
    expect(read(`HTTP/1.1 101 Switch\r\nupgrade: x\r\n\r\n${final}`)).toMatchObject({
      progress: 'malformed',
      status: 0,
    })
  })

  test.each([
    'HTTP/1.0 103 Hints\r\n\r\n',
    'HTTP/1.1 103 Hints\r\nconnection: close\r\n\r\n',
    'HTTP/1.1 103 Hints\r\ncontent-length: 2\r\n\r\n',
    'HTTP/1.1 103 Hints\r\ntransfer-encoding: chunked\r\n\r\n',
    'HTTP/1.1 103 Hints\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\nHTTP/1.1 102 Wait\r\n\r\n',
    'HTTP/1.1 103 Hints\r\nbanana\r\n\r\n',
    'HTTP/1.1 103 Hints\n\n',
  ])('after %j no other request goes over the connection', (interim) => {
    expect(read(interim + final)).toMatchObject({
      progress: 'complete',
      status: 200,
      text: 'ok',
      reusable: false,
    })
  })
})
