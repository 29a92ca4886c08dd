/** What may have become of an answer's bytes on their way, or in the head of who wrote the server. */
import fc from 'fast-check'
import { answers } from './generated-response.fixture.ts'

/** What is read differently by some, or by nobody. */
const oddities = [
  '\r',
  '\n',
  '\r\n',
  ' ',
  '\t',
  '\0',
  '\xa0',
  ',',
  ':',
  ';',
  '0',
  '5',
  '+5',
  'x',
  'content-length: 5\r\n',
  'content-length: 0\r\n',
  'Transfer-Encoding:\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: chunked\t\r\n',
  'Transfer-Encoding: chunked, \r\n',
  'transfer-encoding: gzip, chunked\r\n',
  'transfer-encoding: chunked, gzip\r\n',
  'transfer-encoding: chunked, chunked\r\n',
  'connection: close\r\n',
  'Connection: keep-alive\r\n',
  'HTTP/1.1 103 Hints\r\n\r\n',
  'HTTP/1.1 204\r\n\r\n',
  '0\r\n\r\n',
  '0\r\n',
]

type Mutation = readonly [
  how: 'flip' | 'delete' | 'insert' | 'insert line' | 'repeat' | 'truncate',
  at: number,
  what: number,
]

const mutation: fc.Arbitrary<Mutation> = fc.tuple(
  fc.constantFrom('flip', 'delete', 'insert', 'insert line', 'insert line', 'repeat', 'truncate'),
  fc.nat({ max: 400 }),
  fc.nat({ max: 255 }),
)

function mutate(text: string, [how, where, what]: Mutation): string {
  const at = where % (text.length + 1)
  const [before, after] = [text.slice(0, at), text.slice(at)]
  const oddity = oddities[what % oddities.length] as string
  switch (how) {
    case 'flip':
      return before + String.fromCharCode((after.charCodeAt(0) || 0) ^ (1 << (what % 8))) + after.slice(1)
    case 'delete':
      return before + after.slice(what % 16)
    case 'insert':
      return before + oddity + after
    case 'insert line': {
      const line = text.indexOf('\n', at) + 1
      return text.slice(0, line) + oddity + text.slice(line)
    }
    case 'repeat':
      return before + after.slice(0, what % 64) + after
    case 'truncate':
      return before
  }
}

/** Answers of few bytes, where what is damaged decides. */
const short = [
  'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
  'HTTP/1.0 200 OK\r\nconnection: x, keep-alive\r\ncontent-length: 2\r\n\r\nok',
  'HTTP/1.1 103 Hints\r\nconnection: x\r\n\r\nHTTP/1.1 204 None\r\nconnection: x, y\r\n\r\n',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: x, chunked\r\n\r\n2;a="b\\"";c=d\r\nok\r\n0\r\na: b\r\n\r\n',
]

/** Bytes that began as those of an answer. */
export const damaged = fc
  .tuple(
    fc.oneof(
      answers.map(({ bytes }) => bytes),
      fc.constantFrom(...short),
    ),
    fc.array(mutation, { minLength: 1, maxLength: 2 }),
  )
  .map(([bytes, mutations]) => mutations.reduce(mutate, bytes))
