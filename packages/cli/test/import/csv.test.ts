/** Records and the lines they begin on, of every file that calls itself CSV. */
import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readRecords } from '../../src/import/csv.ts'
import { Lines } from '../../src/import/lines.ts'
import { fileOf } from './files.ts'

async function read(content: string | Uint8Array, delimiter = ',') {
  const records: [line: number, ...cells: string[]][] = []
  for await (const { line, cells } of readRecords(fileOf(content), { delimiter }))
    records.push([line, ...cells])
  return records
}

describe('records', () => {
  test('begin on the line that an editor shows, behind line breaks in quotes and empty lines too', async () => {
    const text = 'a,b\r\n1,"x\r\ny\n\nz"\r\n\r\n\r\n2,"say ""so"""\r\n3,\r\n'
    expect(await read(`\ufeff${text}`)).toEqual([
      [1, 'a', 'b'],
      [2, '1', 'x\r\ny\n\nz'],
      [8, '2', 'say "so"'],
      [9, '3', ''],
    ])
    expect(await read(text)).toEqual(await read(`\ufeff${text}`))
  })

  test('end with LF, CR LF or CR, all in one file, and the last without', async () => {
    expect(await read('a,b\n1,2\r\n3,4\r5,6')).toEqual([
      [1, 'a', 'b'],
      [2, '1', '2'],
      [3, '3', '4'],
      [4, '5', '6'],
    ])
  })

  test('may have too few and too many values, and another delimiter', async () => {
    expect(await read('a;b\n1\n1;2,;3\n', ';')).toEqual([
      [1, 'a', 'b'],
      [2, '1'],
      [3, '1', '2,', '3'],
    ])
    expect(await read('a\tb\n', '\t')).toEqual([[1, 'a', 'b']])
    expect(await read('')).toEqual([])
    expect(await read('\ufeff')).toEqual([])
  })

  test('come back as they were written, whatever they hold, over pieces of a long file', async () => {
    const cell = fc.oneof(
      fc.stringMatching(/^[a-z]{1,8}$/),
      fc.array(fc.constantFrom('"', ',', '\n', '\r\n', 'é', '🙂', ' ', 'x')).map((parts) => parts.join('')),
      fc.constant('y'.repeat(30_000)),
    )
    // A record of one empty value is an empty line.
    const record = fc.array(cell, { minLength: 2, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 12 }), async (records) => {
        let line = 1
        const expected = records.map((cells) => {
          const begins = line
          line += stringify([cells]).split(/\r\n|\n|\r/).length - 1
          return [begins, ...cells]
        })
        expect(await read(stringify(records))).toEqual(expected)
      }),
      { numRuns: 40 },
    )
  })
})

describe('what is no CSV is refused with its line', () => {
  test.each([
    ['a,b\n1,2\n3,"open\n4,5\n', 'line 3', 'opened and never closed'],
    ['a,b\n"x\ny",2\n\n3,"x"y\n', 'line 5', 'follows a closing quote'],
    ['a,b\n1,w"x\n', 'line 2', 'inside a value'],
    [`a,b\n1,2\n3,${'x'.repeat(1_100_000)}\n`, 'line 3', 'longer than 1048576 bytes'],
  ])('%#', async (text, line, reason) => {
    await expect(read(text)).rejects.toThrow(new RegExp(`the record on ${line} cannot be read: .*${reason}`))
  })

  test.each([
    [
      'in the middle',
      Buffer.concat([Buffer.from('a\nb\n"c\n'), Buffer.from([0xe9]), Buffer.from('"\nd\n')]),
      4,
    ],
    ['cut off at the end', Buffer.concat([Buffer.from('a\nb\n'), Buffer.from([0xf0, 0x9f])]), 3],
    ['after lone carriage returns', Buffer.concat([Buffer.from('a\rb\r'), Buffer.from([0xff, 0x0d])]), 3],
    ['from the first byte, as UTF-16 is', Buffer.from('\ufeffa,b\n', 'utf16le'), 1],
  ])('not UTF-8 %s', async (_, bytes, line) => {
    await expect(read(bytes)).rejects.toThrow(`line ${line} is not UTF-8`)
  })
})

test('lines do not depend on how the file comes in pieces', () => {
  const text = fc.array(fc.constantFrom('\n', '\r', '\r\n', 'a', 'é', '🙂')).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.array(fc.nat(4), { minLength: 1 }), (content, sizes) => {
      const bytes = Buffer.from(content)
      const lines = new Lines()
      for (let at = 0, n = 0; at < bytes.length; n++) {
        const size = 1 + (sizes[n % sizes.length] ?? 0)
        lines.take(bytes.subarray(at, at + size))
        at += size
      }
      lines.end()
      const expected = [...bytes.keys()].map((at) => {
        const before = bytes.subarray(0, at).toString('latin1')
        // Between CR and LF the line has not ended.
        const whole = bytes[at] === 0x0a && before.endsWith('\r') ? before.slice(0, -1) : before
        return whole.split(/\r\n|\n|\r/).length
      })
      expect([...bytes.keys()].map((at) => lines.at(at))).toEqual(expected)
    }),
  )
})
