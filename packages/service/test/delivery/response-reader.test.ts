/**
 * The reader of answers: what a server wrote is what is read, however it is cut on its way; and whatever comes, the reader says
 * its word before it has taken in more than it may.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ResponseReader } from '../../src/delivery/send/response-reader.ts'
import { damaged } from './damaged-answer.fixture.ts'
import {
  answers,
  cut,
  hasBody,
  type Outcome,
  outcomeOf,
  type Parts,
  shown,
} from './generated-response.fixture.ts'

const KiB = 1024

/** What is to be read of an answer with these parts. */
function intended({ minor, status, framing, connection, keptSeconds, body, behind }: Parts): Outcome {
  const untilClose = framing === 'until_close' && hasBody(status)
  const length = hasBody(status) ? body.length : 0
  const goesOn = minor === 1 ? connection !== 'close' : connection === 'keep-alive'
  const announced = framing === 'chunked' && (!hasBody(status) || minor === 0)
  return {
    progress: untilClose && length + behind.length <= 16 * KiB ? 'more' : 'complete',
    status,
    text: hasBody(status) ? shown(untilClose ? body + behind : body) : '',
    reusable: goesOn && !untilClose && !announced && length <= 16 * KiB && behind === '',
    keepAliveMs: keptSeconds === null ? null : keptSeconds * 1000,
  }
}

test('what was written is read, and may be cut anywhere', () => {
  const cutAnswers = answers.chain((answer) => cut(answer.bytes).map((pieces) => ({ ...answer, pieces })))
  const seen = { reusable: 0, ended: 0, lasting: 0 }
  fc.assert(
    fc.property(cutAnswers, ({ parts, bytes, pieces }) => {
      const outcome = outcomeOf([bytes])
      expect(outcome).toEqual(intended(parts))
      expect(outcomeOf(pieces)).toEqual(outcome)
      seen[outcome.reusable ? 'reusable' : outcome.progress === 'complete' ? 'ended' : 'lasting']++
    }),
    { numRuns: 3000 },
  )
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100)
})

test('what was damaged may be cut anywhere too', () => {
  const seen = { more: 0, complete: 0, malformed: 0 }
  fc.assert(
    fc.property(
      damaged.chain((bytes) => cut(bytes).map((pieces) => ({ bytes, pieces }))),
      ({ bytes, pieces }) => {
        const outcome = outcomeOf([bytes])
        expect(outcomeOf(pieces)).toEqual(outcome)
        if (bytes.length < 300) expect(outcomeOf([...bytes])).toEqual(outcome)
        seen[outcome.progress]++
      },
    ),
    { numRuns: 3000 },
  )
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100)
})

test('whatever comes without end, a word is said within the limits', () => {
  const endless = fc
    .tuple(
      fc.oneof(
        answers.map(({ bytes }) => bytes),
        damaged,
      ),
      fc.nat(),
      fc.nat({ max: 400 }),
    )
    .map(([text, where, length]) => {
      const at = where % (text.length + 1)
      const repeated = text.slice(at, at + length + 1) || 'x'
      return { before: text.slice(0, at), repeated }
    })
  const sizes = fc.integer({ min: 1, max: 70 * KiB })
  let late = 0
  fc.assert(
    fc.property(endless, sizes, ({ before, repeated }, size) => {
      const bytes = before + repeated.repeat(Math.ceil((160 * KiB) / repeated.length))
      const reader = new ResponseReader()
      let at = 0
      while (at < bytes.length && reader.read(Buffer.from(bytes.slice(at, at + size), 'latin1')) === 'more') {
        at += size
        if (reader.status !== 0) continue
        const heads = [...bytes.slice(0, at).matchAll(/\n\r?\n/g)]
        const lastHead = heads.at(-1)
        expect(at).toBeLessThanOrEqual(64 * KiB)
        expect(at - (lastHead === undefined ? 0 : lastHead.index + lastHead[0].length)).toBeLessThanOrEqual(
          16 * KiB,
        )
      }
      // Of heads, of data, and of what is around chunks.
      expect(at).toBeLessThanOrEqual((64 + 16 + 64) * KiB)
      if (at > 10 * KiB) late++
    }),
    { numRuns: 1000 },
  )
  expect(late).toBeGreaterThan(30)
})

describe('the limits of the beginning', () => {
  /** A head of so many bytes, those of its status line and of its last line included. */
  const head = (status: number, length: number) => {
    const [begin, end] = [`HTTP/1.1 ${status} A\r\ncontent-length: 0\r\nx: `, '\r\n\r\n']
    return begin + 'x'.repeat(length - begin.length - end.length) + end
  }
  const interim = (length: number) => head(103, length).replace('content-length', 'content_length')
  const inPieces = (bytes: string) => [[bytes], bytes.match(/.{1,1000}/gs) ?? [], [...bytes]]

  test.each<[string, (more: number) => string]>([
    ['16 KiB of a head', (more) => head(200, 16 * KiB + more)],
    ['16 KiB of a head after another', (more) => interim(100) + head(200, 16 * KiB + more)],
    [
      '64 KiB of several heads',
      (more) => interim(16 * KiB).repeat(3) + interim(6 * KiB) + head(200, 10 * KiB + more),
    ],
  ])('%s are read, and not one more', (_what, written) => {
    for (const pieces of inPieces(written(0)))
      expect(outcomeOf(pieces)).toMatchObject({ progress: 'complete', status: 200, reusable: true })
    for (const pieces of inPieces(written(1)))
      expect(outcomeOf(pieces)).toMatchObject({ progress: 'malformed', status: 0 })
  })

  test('an interim head has them too', () => {
    expect(outcomeOf([interim(16 * KiB)])).toMatchObject({ progress: 'more', status: 0 })
    expect(outcomeOf([interim(16 * KiB + 1)])).toMatchObject({ progress: 'malformed' })
  })

  test('after 64 KiB of interim heads nothing is waited for', () => {
    const heads = interim(16 * KiB).repeat(4)
    expect(outcomeOf([heads])).toMatchObject({ progress: 'more', status: 0 })
    expect(outcomeOf([heads, 'H'])).toMatchObject({ progress: 'malformed', status: 0 })
  })

  test('a line without end is waited for as long', () => {
    const line = `HTTP/1.1 200 ${'x'.repeat(16 * KiB)}`
    for (const [length, progress] of [
      [16 * KiB, 'more'],
      [16 * KiB + 1, 'malformed'],
    ] as const)
      for (const pieces of inPieces(line.slice(0, length))) expect(outcomeOf(pieces).progress).toBe(progress)
  })

  test('what cannot become an answer is not waited for', () => {
    for (const bytes of ['H', 'HTTP/1.', 'HTTP/1.1 20']) expect(outcomeOf([bytes]).progress).toBe('more')
    for (const bytes of ['h', 'HTTP/2', 'HTTPS', 'SSH-2.0', '\0', ' '])
      expect(outcomeOf([bytes])).toMatchObject({ progress: 'malformed', status: 0 })
  })
})
