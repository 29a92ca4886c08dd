/** What cannot be imported or exported is refused before anything is sent. */
import { expect, test } from 'vitest'
import { exportCommand } from '../../src/commands/export.ts'
import { importCommand } from '../../src/commands/import.ts'
import { CommandFailure } from '../../src/failure.ts'
import type { Layout } from '../../src/import/columns.ts'
import { objectOf } from '../../src/import/ndjson.ts'
import { addFields, readData } from '../../src/resources/input.ts'
import { UsageError } from '../../src/usage-error.ts'
import { fileOf } from './files.ts'

// Nothing listens there: whatever is sent fails in another way.
const nowhere = ['--url', 'http://127.0.0.1:1', '--key', 'dwk_x']

test.each<[reason: string, words: () => string[], kind: new (message: string) => Error, message: RegExp]>([
  ['no file', () => [], UsageError, /^import needs a file$/],
  [
    'a file that is not there',
    () => ['/no/such.csv'],
    UsageError,
    /^\/no\/such\.csv cannot be read: there is no such/,
  ],
  ['an empty file', () => [fileOf('')], CommandFailure, /is empty: its first line has to name the columns$/],
  [
    'an unknown column',
    () => [fileOf('name,nmae\n')],
    UsageError,
    /^customers have no column "nmae"; accepted: name,/,
  ],
  [
    'a broken quote',
    () => [fileOf('name\nAda\n"G\n')],
    CommandFailure,
    /the record on line 3 cannot be read: a quote/,
  ],
  [
    'a quote within a value',
    () => [fileOf('name,company\n"Ada\nL","B"\n37\'8"N,"B"\nEve,C\n')],
    CommandFailure,
    /the record on line 4 cannot be read: a quote stands inside/,
  ],
  [
    'Latin-1',
    () => [fileOf(Buffer.from('name\nJos\xe9\n', 'latin1'))],
    CommandFailure,
    /line 2 is not UTF-8/,
  ],
  [
    'no kind',
    () => [fileOf('name\n'), '--kind', 'people'],
    UsageError,
    /^there is no kind "people"; there are: teamm/,
  ],
  [
    'no delimiter',
    () => [fileOf('name\n'), '--delimiter', '::'],
    UsageError,
    /^--delimiter: "::" is not accepted; it/,
  ],
  [
    'an externalId twice',
    () => [fileOf('name,externalId\nAda,1.23457E+12\nGrace,a\nEve,1.23457E+12\nBob,1.23457E+12\nC,a\n')],
    UsageError,
    /^.* has externalIds more than once: "1\.23457E\+12" on lines 2, 4, 5; "a" on lines 3, 6\. Correct the file, or give --duplicates last/,
  ],
  [
    'lines with an externalId twice',
    () => [fileOf('{"externalId":"a"}\n{"externalId":"\\u0061","name":"A"}\n', 'a.jsonl'), '--history'],
    UsageError,
    /^.* has externalIds more than once: "a" on lines 1, 2\. Correct the file$/,
  ],
  [
    'other duplicates',
    () => [fileOf('name\n'), '--duplicates', 'first'],
    UsageError,
    /^--duplicates: "first" is not accepted; it must be last$/,
  ],
  [
    'duplicates without an externalId',
    () => [fileOf('name\nAda\n'), '--duplicates', 'last'],
    UsageError,
    /^--duplicates is for rows with an externalId, and the file has none$/,
  ],
  [
    'duplicates with a past',
    () => [fileOf('name\n'), '--duplicates', 'last', '--history'],
    UsageError,
    /^--duplicates last: rows with their past are not changed/,
  ],
  [
    'another delimiter than it names',
    () => [fileOf('sep=;\nname\n'), '--delimiter', ','],
    UsageError,
    /^--delimiter: the first line of .* says sep=;: leave --delimiter out/,
  ],
])('an import of %s', async (_, words, kind, message) => {
  const refused = importCommand.run([...words(), ...nowhere])
  await expect(refused).rejects.toThrow(kind)
  await expect(refused).rejects.toThrow(message)
})

test.each([
  [[], /^export needs a kind; there are: teammates, customers/],
  [['people'], /^there is no kind "people"/],
  [['customers', '--json'], /^--json needs --out as well$/],
])('an export of %j', async (words, message) => {
  await expect(exportCommand.run([...words, ...nowhere])).rejects.toThrow(message)
})

test('what reading JSON would change is named, in a line of a file and in a field', async () => {
  for (const [json, fault] of [
    [
      '{"name":"Ada","n":{"a":9007199254740993}}',
      /^n\.a: must be a number that a double .*993 would become .*992$/,
    ],
    ['{"name":"Ada","name":"Eve"}', /^name: has its name twice in one object$/],
  ] as const) {
    expect(objectOf({ ignored: [] } as unknown as Layout, json)).toEqual({
      fault: expect.stringMatching(fault),
    })
    expect(() => addFields({}, [`a:=${json}`])).toThrow(RegExp(`^--field a: ${fault.source.slice(1)}`))
  }
  const latin1 = fileOf(Buffer.from('{"name":"Jos\xe9"}', 'latin1'))
  await expect(readData(`@${latin1}`)).rejects.toThrow(/^--data must be JSON in UTF-8$/)
})
