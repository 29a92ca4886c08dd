/** A file is read twice, before anything is sent and while it is sent: both have to be the same. */
import { appendFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { rowsOf, survey } from '../../src/import/survey.ts'
import { kindNamed } from '../../src/kinds.ts'
import { fileOf } from './files.ts'

async function collect<T>(records: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const record of records) all.push(record)
  return all
}

const sourceOf = (path: string) => ({ path, delimiter: ',', ignored: [] })

test('what was surveyed is what is read', async () => {
  const source = sourceOf(fileOf('name\nAda\n\nGrace\n'))
  const found = await survey(kindNamed('customers'), source)
  expect(found).toMatchObject({
    rows: 2,
    file: { size: 16, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  })
  const read = await collect(rowsOf(source, found))
  expect(read).toEqual([
    { line: 2, cells: ['Ada'] },
    { line: 4, cells: ['Grace'] },
  ])
})

test('a file that somebody wrote to meanwhile is told of', async () => {
  const source = sourceOf(fileOf('name\nAda\n'))
  const found = await survey(kindNamed('customers'), source)
  appendFileSync(source.path, 'Grace\n')
  await expect(collect(rowsOf(source, found))).rejects.toThrow('was changed while it was being read')
})

test('a directory is no file', async () => {
  await expect(survey(kindNamed('customers'), sourceOf('/'))).rejects.toThrow('/ is no file')
})
