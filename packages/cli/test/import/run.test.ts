/** Batches: what stands in them, in which order they are sent, and in which order their outcomes are taken in. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { BatchAnswer, ItemOutcome } from '@deskwire/sdk'
import { describe, expect, test } from 'vitest'
import { type Batch, toBatches } from '../../src/import/batches.ts'
import { lineLayout, readHeader } from '../../src/import/columns.ts'
import {
  type ImportIdentity,
  loadProgress,
  noCounts,
  type Progress,
  progressPath,
  saveProgress,
} from '../../src/import/progress.ts'
import { openRejects, type RejectsFile } from '../../src/import/rejects.ts'
import { runImport } from '../../src/import/run.ts'
import { kindNamed } from '../../src/kinds.ts'
import { fileOf } from './files.ts'

const layout = readHeader(kindNamed('customers'), ['externalId', 'name'], [])

async function* recordsOf(...rows: string[][]) {
  for (const [n, cells] of rows.entries()) yield { line: n + 2, cells }
}

async function batchesOf(rows: string[][], bounds = { rows: 2, bytes: 10_000 }) {
  const batches: Batch[] = []
  for await (const batch of toBatches(recordsOf(...rows), layout, bounds)) batches.push(batch)
  return batches
}

describe('batches', () => {
  const lines = async (...call: Parameters<typeof batchesOf>) =>
    (await batchesOf(...call)).map(({ entries }) => entries.map(({ line }) => line))

  test('are full by rows or by bytes, and hold lines that make no row in their places', async () => {
    const rows = [['a', 'x'], ['b'], ['c', 'x'], ['d', 'x', 'y'], ['e', 'x']]
    expect(await lines(rows)).toEqual([[2, 3], [4, 5], [6]])
    const long = [
      ['a', 'x'.repeat(90)],
      ['b', 'x'.repeat(90)],
      ['c', 'x'.repeat(900)],
      ['d', 'x'],
    ]
    expect(await lines(long, { rows: 10, bytes: 250 })).toEqual([[2, 3], [4], [5]])
    const [first] = await batchesOf(rows)
    expect(first).toMatchObject({ number: 0, externalIds: new Set(['a']) })
    expect(first?.entries[1]).toMatchObject({ fault: 'it has 1 values where the header has 2' })
    expect(await batchesOf([])).toEqual([])
  })

  test('hold rows that are looked for, or others; the same rows have the same digest', async () => {
    const lines = lineLayout(kindNamed('customers'), [], false)
    const ids = ['a', undefined, 'b', null, 'c', undefined]
    const records = ids.map((externalId, n) => [JSON.stringify({ name: `n${n}`, externalId })])
    const grouped = async (...rows: string[][]) => {
      const batches: Batch[] = []
      for await (const batch of toBatches(recordsOf(...rows), lines, { rows: 2, bytes: 10_000 }))
        batches.push(batch)
      return batches
    }
    const batches = await grouped(...records, ['nonsense'])
    const shown = batches.map(({ number, isMatched, entries }) => [
      number,
      isMatched,
      ...entries.map(({ line }) => line),
    ])
    expect(shown).toEqual([
      [0, true, 2, 4],
      [1, false, 3, 5],
      [2, false, 7, 8],
      [3, true, 6],
    ])
    const [first, second] = await grouped(...records.slice(0, 3), ...records.slice(2, 3))
    expect([first?.digest === batches[0]?.digest, second?.digest === batches[1]?.digest]).toEqual([
      true,
      false,
    ])
  })

  test('hold a row once: its next line begins another', async () => {
    const rows = [
      ['a', 'x'],
      ['a', 'y'],
      ['b', 'x'],
      ['', 'x'],
      ['', 'y'],
      ['b', 'z'],
    ]
    expect(await lines(rows, { rows: 10, bytes: 10_000 })).toEqual([[2], [3, 4, 5, 6], [7]])
  })
})

const identity: ImportIdentity = {
  file: { size: 1, sha256: 'abc' },
  kind: 'customers',
  operation: 'upsert',
  delimiter: ',',
  ignored: [],
  again: false,
  target: 't',
}

const beginning: Progress = {
  of: identity,
  keys: 'abc',
  batches: 0,
  counts: noCounts,
  rejects: null,
  at: 0,
}

/** Answers when it is told to: all created, but for rows named `bad`. */
function startRun(path: string, rows: string[][], progress = beginning) {
  const sent: {
    number: number
    items: readonly object[]
    answer: () => void
    fail: (error: Error) => void
  }[] = []
  const told: number[] = []
  const finished = (async () => {
    const { rejects: kept } = progress
    await using rejects = await openRejects(path, { layout, delimiter: ',', kept })
    return await runImport({
      path,
      progress,
      rejects,
      batches: toBatches(recordsOf(...rows), layout, { rows: 2, bytes: 10_000 }),
      onProgress: (counts) => told.push(counts.rows),
      send: ({ number }, items) =>
        new Promise((settle, fail) => {
          sent.push({
            number,
            items,
            answer: () => settle({ answer: answerTo(items), isReplayed: false }),
            fail,
          })
        }),
    })
  })()
  finished.catch(() => {})
  return { sent, told, finished }
}

function answerTo(items: readonly object[]): BatchAnswer {
  const data = items.map((item, index): ItemOutcome => {
    if ('name' in item && item.name === 'bad') {
      const problem = { code: 'duplicate', title: 'Duplicate', detail: 'It is there.' }
      return { index, status: 409, outcome: 'refused', problem }
    }
    return { index, status: 201, outcome: 'created', id: String(index) }
  })
  const refused = data.filter(({ outcome }) => outcome === 'refused').length
  return { data, created: data.length - refused, updated: 0, unchanged: 0, refused }
}

const rejectsPath = (path: string, n = '') => path.replace('.csv', `.rejects${n}.csv`)

/** What a killed process wrote and did not come to count. */
async function appendUncounted(path: string, { rejects: kept }: Progress) {
  await using rejects = await openRejects(path, { layout, delimiter: ',', kept })
  await rejects.append([{ line: 9, cells: ['f', 'bad'], error: 'It is there.' }])
}

/** Lets everything run that is not waiting for an answer; files are written meanwhile. */
async function until(holds: () => boolean) {
  while (!holds()) await new Promise((settle) => setImmediate(settle))
}

describe('a run', () => {
  const rows = 'abcdefghij'.split('').map((id) => [id, 'cf'.includes(id) ? 'bad' : 'x'])

  test('sends three at once, and takes outcomes in by the order of the file', async () => {
    const path = fileOf('')
    const { sent, told, finished } = startRun(path, rows)
    await until(() => sent.length === 3)
    sent[2]?.answer()
    sent[1]?.answer()
    for (let n = 0; n < 50; n++) await new Promise((settle) => setImmediate(settle))
    expect([sent.length, told, existsSync(progressPath(path))]).toEqual([3, [], false])
    sent[0]?.answer()
    await until(() => sent.length === 5)
    for (const { answer } of sent) answer()
    expect((await finished).counts).toEqual({
      rows: 10,
      created: 8,
      updated: 0,
      unchanged: 0,
      replayed: 0,
      rejected: 2,
    })
    expect(told).toEqual([2, 4, 6, 8, 10])
    expect(sent.map(({ number }) => number)).toEqual([0, 1, 2, 3, 4])
    const rejected = 'externalId,name,error\nc,bad,It is there.\nf,bad,It is there.\n'
    expect(readFileSync(rejectsPath(path), 'utf8')).toBe(rejected)
  })

  test('that fails has written down what came before, and another goes on behind it', async () => {
    const path = fileOf('')
    const first = startRun(path, rows)
    await until(() => first.sent.length === 3)
    first.sent[0]?.answer()
    await until(() => first.sent.length === 4)
    first.sent[1]?.answer()
    await until(() => first.sent.length === 5)
    // The third came through, but nobody heard of it.
    first.sent[3]?.answer()
    first.sent[2]?.fail(new Error('the service is gone'))
    await expect(first.finished).rejects.toThrow('the service is gone')

    const progress = (await loadProgress(path, identity)) as Progress
    expect(progress).toMatchObject({ batches: 2, counts: { rows: 4, created: 3, rejected: 1 } })
    // A process that is killed between the two writes has rejects that the progress does not count.
    await appendUncounted(path, progress)
    const second = startRun(path, rows, progress)
    await until(() => second.sent.length === 3)
    for (const { answer } of second.sent) answer()
    expect((await second.finished).counts).toEqual({
      rows: 10,
      created: 8,
      updated: 0,
      unchanged: 0,
      replayed: 0,
      rejected: 2,
    })
    expect(second.sent.map(({ number }) => number)).toEqual([2, 3, 4])
    const rejected = 'externalId,name,error\nc,bad,It is there.\nf,bad,It is there.\n'
    expect(readFileSync(rejectsPath(path), 'utf8')).toBe(rejected)
  })

  test('holds a later line of a row back until the earlier one is done', async () => {
    const { sent, finished } = startRun(fileOf(''), [
      ['a', 'x'],
      ['b', 'x'],
      ['a', 'y'],
      ['c', 'x'],
    ])
    await until(() => sent.length === 1)
    for (let n = 0; n < 50; n++) await new Promise((settle) => setImmediate(settle))
    expect(sent).toHaveLength(1)
    sent[0]?.answer()
    await until(() => sent.length === 2)
    sent[1]?.answer()
    expect((await finished).counts.rows).toBe(4)
  })

  test('sends nothing of a batch without rows', async () => {
    const { sent, finished } = startRun(fileOf(''), [['a'], ['b', 'x', 'y']])
    expect((await finished).counts).toMatchObject({ rows: 2, rejected: 2 })
    expect(sent).toEqual([])
  })
})

describe('progress', () => {
  test('of another import is refused, saying how it differs', async () => {
    const path = fileOf('')
    expect(await loadProgress(path, identity)).toBeNull()
    await saveProgress(path, beginning)
    expect(await loadProgress(path, identity)).toEqual(beginning)
    const other = { ...identity, file: { size: 2, sha256: 'abd' }, target: 'u' }
    await expect(loadProgress(path, other)).rejects.toThrow(
      /customers\.csv\.progress\.json is not of this import \(the file has changed; it went to another --url, or/,
    )
  })

  test.each(['', '{', 'null', '{"batches":1}'])('that cannot be read is refused: %s', async (text) => {
    const path = fileOf(text, 'a.csv.progress.json').replace('.progress.json', '')
    await expect(loadProgress(path, identity)).rejects.toThrow('(it cannot be read)')
  })
})

describe('rejects', () => {
  test('keep their columns, surplus values, line breaks and delimiter, and one error', async () => {
    const path = fileOf('')
    const corrected = readHeader(kindNamed('customers'), ['error', 'name', 'email'], [])
    await using rejects = await openRejects(path, { layout: corrected, delimiter: ';', kept: null })
    await rejects.append([
      { line: 2, cells: ['old', 'a\nb', 'x;y'], error: 'new' },
      { line: 4, cells: ['old', 'a', 'b', 'c'], error: 'too long' },
      { line: 5, cells: ['old'], error: 'too short' },
    ])
    const expected = 'name;email;error\n"a\nb";"x;y";new\na;b;too long;c\n;;too short\n'
    expect(readFileSync(rejectsPath(path), 'utf8')).toBe(expected)
  })

  const reject = { line: 2, cells: ['a', 'b'], error: 'wrong' }

  test('go into a new file, and there is none without any', async () => {
    const path = fileOf('')
    const kept = null
    for (const n of ['', '-2', '-3']) {
      await using rejects = await openRejects(path, { layout, delimiter: ',', kept })
      expect([await rejects.append([]), existsSync(rejectsPath(path, n))]).toEqual([null, false])
      expect(await rejects.append([reject])).toMatchObject({ path: rejectsPath(path, n), bytes: 32 })
      writeFileSync(rejectsPath(path, n), 'corrected')
    }
    expect(readFileSync(rejectsPath(path), 'utf8')).toBe('corrected')
    await using other = await openRejects(path.replace('.csv', ''), { layout, delimiter: ',', kept })
    expect(await other.append([reject])).toMatchObject({ path: rejectsPath(path, '-4') })
  })

  test('of an interrupted import are continued if they are as it left them', async () => {
    const path = fileOf('')
    const opened = (kept: RejectsFile | null) => openRejects(path, { layout, delimiter: ',', kept })
    const first = await opened(null)
    const kept = await first.append([reject])
    await first[Symbol.asyncDispose]()
    const text = readFileSync(rejectsPath(path), 'utf8')
    writeFileSync(rejectsPath(path), text.replace('wrong', 'right'))
    await expect(opened(kept)).rejects.toThrow('rejects.csv was changed since this import was interrupted')
    expect(readFileSync(rejectsPath(path), 'utf8')).toBe(text.replace('wrong', 'right'))
    writeFileSync(rejectsPath(path), text)
    await using again = await opened(kept)
    const both = await again.append([reject])
    expect(readFileSync(rejectsPath(path), 'utf8')).toBe(`${text}a,b,wrong\n`)
    await using twice = await opened(both)
    expect(await twice.append([])).toEqual(both)
  })
})
