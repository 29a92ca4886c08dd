import { expect, test } from 'vitest'
import { type FoundRecord, recordsIn } from '../../../src/import/sources/json-records.ts'

const lists = new Set(['users', 'tickets'])

/** The records of a text that arrives in pieces of so many bytes. */
async function found(text: string | Uint8Array, size = 1_000_000): Promise<FoundRecord[]> {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const pieces = async function* () {
    for (let from = 0; from < bytes.length; from += size) yield bytes.slice(from, from + size)
  }
  const records: FoundRecord[] = []
  for await (const record of recordsIn('x.json', pieces(), lists)) records.push(record)
  return records
}

const shape = (records: readonly FoundRecord[]) =>
  records.map(({ list, text }) => [list, JSON.parse(text)] as const)

const one = { id: 1, body: '}]{["\\ “é” 🙂', tickets: 'no list' }
const two = { id: 2, inner: { tickets: [{ id: 9 }] }, list: [[], {}] }

test.each([
  ['lines', `${JSON.stringify(one)}\n${JSON.stringify(two)}\n`, null],
  [
    'objects one after the other, over several lines',
    JSON.stringify(one, null, 2) + JSON.stringify(two, null, 2),
    null,
  ],
  ['a list', JSON.stringify([one, two]), null],
  [
    'a page',
    JSON.stringify({ count: 2, next_page: null, tickets: [one, two], end_of_stream: true }),
    'tickets',
  ],
  ['a page, over several lines', JSON.stringify({ tickets: [one, two] }, null, 2), 'tickets'],
  [
    'a page with an escaped name',
    `{"tick\\u0065ts":[${JSON.stringify(one)},${JSON.stringify(two)}]}`,
    'tickets',
  ],
  [
    'pages',
    `${JSON.stringify({ tickets: [one] })}\n${JSON.stringify({ tickets: [], count: 0 })}{"tickets":[${JSON.stringify(two)}]}`,
    'tickets',
  ],
  ['a list of pages', JSON.stringify([{ tickets: [one] }, { tickets: [two] }]), 'tickets'],
])('%s, however it is cut', async (_, text, list) => {
  for (const size of [1, 2, 3, 7, 1_000_000])
    expect(shape(await found(text, size))).toEqual([
      [list, one],
      [list, two],
    ])
})

test('a page may have several lists', async () => {
  const text = JSON.stringify({ tickets: [one], meta: { users: [two] }, users: [two], other: [one] })
  expect(shape(await found(text))).toEqual([
    ['tickets', one],
    ['users', two],
  ])
})

test('a file may begin with the mark of UTF-8', async () => {
  expect(shape(await found(`\ufeff${JSON.stringify(one)}\r\n`))).toEqual([[null, one]])
})

test('records know their lines', async () => {
  const lines = (await found('{"a":1}\n\n{"a":\n2}\n{"users":[\n{"a":3}]}')).map(({ line }) => line)
  expect(lines).toEqual([1, 3, 6])
})

test.each([
  [
    'nothing but a name',
    'id,name\n1,Ada\n',
    /^x\.json: line 1: "id,name.*" is no JSON object: give JSON, or objects one a line$/,
  ],
  [
    'a number in a list',
    '[{"a":1},2]',
    /^x\.json: line 1: "2\]" is no JSON object: give JSON, or objects one a line$/,
  ],
  [
    'a number in a page',
    '{"users":[null]}',
    /^x\.json: line 1: "null\]\}" is no JSON object: give JSON, or objects one a line$/,
  ],
  [
    'a file that was cut off',
    '{"a":1}\n{"a":"',
    /^x\.json: line 2: it ends in the middle of a record: it was cut off; export it again$/,
  ],
  ['a page that was cut off', '{"users":[{"a":1}', /cut off/],
  [
    'ISO 8859-1',
    Uint8Array.from([...Buffer.from('{"a":"'), 0xe9, ...Buffer.from('"}')]),
    /^x\.json: the record on line 1 is not UTF-8/,
  ],
  ['UTF-16', Uint8Array.from([0xff, 0xfe, 0x7b, 0]), /^x\.json is UTF-16: save it as UTF-8$/],
  ['gzip', Uint8Array.from([0x1f, 0x8b, 8, 0]), /^x\.json is compressed: unpack it \(gunzip\) first$/],
  ['ZIP', Uint8Array.from([0x50, 0x4b, 3, 4]), /^x\.json is a ZIP file: unpack it first$/],
])('%s is refused', async (_, text, message) => {
  await expect(found(text)).rejects.toThrow(message)
})

test('a file without records has none', async () => {
  expect(await found('')).toEqual([])
  expect(await found(' \n[]\n{"users":[]}')).toEqual([])
})
