/** Tokens that were not seen before: how many are looked up, in which order, and who is refused. Time is moved by hand. */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createAdmission } from '../../src/access/admission.ts'
import type { Lookup } from '../../src/access/directory.ts'
import { newToken } from '../../src/access/token.ts'
import { type UnseenLimits, UnseenTokens, unseenLimits } from '../../src/access/unseen-tokens.ts'
import { testClock } from '../harness/clock.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] }))
afterEach(() => vi.useRealTimers())

const caller = { organizationId: 'o', organizationCreatedAt: 0, apiKeyId: 'k', scopes: ['*'] }

function directory(limits: Partial<UnseenLimits> = {}) {
  const known = new Set<string>()
  /** What was looked up at the same moment, in order. */
  const batches: { at: number; tokens: string[] }[] = []
  const lookUp = async (token: string): Promise<Lookup> => {
    const at = performance.now()
    const last = batches.at(-1)
    if (last?.at === at && last.tokens.length < (limits.perBatch ?? unseenLimits.perBatch))
      last.tokens.push(token)
    else batches.push({ at, tokens: [token] })
    return known.has(token) ? { outcome: 'authenticated', caller } : { outcome: 'unknown' }
  }
  const unseen = new UnseenTokens(lookUp, { ...unseenLimits, ...limits })
  const { authenticate } = createAdmission({
    lookUp,
    clock: testClock(),
    limit: null,
    uses: { note: () => {} },
    unseen,
  })
  const ended: string[] = []
  return {
    known,
    batches,
    unseen,
    ended,
    looked: () => batches.flatMap(({ tokens }) => tokens),
    /** Asks, and notes how it ended. */
    ask: (token: string, address = '192.0.2.1') =>
      authenticate(token, address).then(({ outcome }) => {
        ended.push(outcome)
        return outcome
      }),
    many: (count: number) => Array.from({ length: count }, newToken),
  }
}

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)
/** Waits for what is to end by itself within 10 ms. */
async function soon<V>(asked: Promise<V>): Promise<V> {
  await pass(10)
  return asked
}
const counted = (outcomes: readonly string[]) => {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

describe('4,000 at once from one address', () => {
  test('cost a thousand look-ups in batches of twenty; those beyond are refused at once', async () => {
    const { ask, many, looked, batches, ended } = directory()
    const asked = many(4_000).map((token) => ask(token))
    await pass(0)
    expect(counted(ended)).toMatchObject({ throttled: 3_000 })
    await pass(1_000)
    expect(counted(await Promise.all(asked))).toEqual({ throttled: 3_000, unknown: 1_000 })
    expect(looked()).toHaveLength(1_000)
    expect(Math.max(...batches.map(({ tokens }) => tokens.length))).toBe(20)
  })

  test('and again and again: a thousand a second, and a second at once', async () => {
    const { ask, many, looked } = directory()
    for (let n = 0; n < 40; n++) {
      for (const token of many(400)) void ask(token)
      await pass(100)
    }
    expect(looked().length).toBeLessThanOrEqual(1_000 + 4 * 1_000)
    expect(looked().length).toBeGreaterThan(4_500)
  })

  test('do not keep a good key out that comes from there too and was not seen before', async () => {
    const { known, ask, many, batches } = directory()
    const [good = ''] = many(1)
    known.add(good)
    // The pace is used up, and the queue stands nearly full.
    for (const token of many(1_000)) void ask(token)
    await pass(500)
    for (const token of many(499)) void ask(token)
    const before = batches.length
    const asked = ask(good)
    await pass(1_000)
    expect(await asked).toBe('authenticated')
    const place = batches.findIndex(({ tokens }) => tokens.includes(good))
    expect(place - before).toBeLessThanOrEqual(unseenLimits.perNetwork / unseenLimits.perBatch)
    // From now on it waits for nobody.
    for (const token of many(4_000)) void ask(token)
    const again = ask(good)
    await Promise.resolve()
    expect(batches.at(-1)?.tokens).toEqual([good])
    expect(await again).toBe('authenticated')
  })

  test('keep a good key from another address waiting for one batch', async () => {
    const { known, ask, many, batches } = directory()
    const [good = ''] = many(1)
    known.add(good)
    for (const token of many(2_500)) void ask(token)
    await pass(1_000)
    for (const token of many(2_500)) void ask(token)
    const before = batches.length
    const asked = ask(good, '192.0.2.2')
    await pass(20)
    expect(await asked).toBe('authenticated')
    expect(batches.findIndex(({ tokens }) => tokens.includes(good)) - before).toBeLessThanOrEqual(1)
  })

  test('are forgotten when they have been looked up', async () => {
    const { ask, many, unseen } = directory()
    for (const token of many(900)) void ask(token)
    for (const token of many(900)) void ask(token, '2001:db8::1')
    expect(unseen.waiting).toBe(1_800)
    await pass(2_000)
    expect(unseen.waiting).toBe(0)
  })
})

describe('the room', () => {
  const limits = { perBatch: 2, batchesPerSecond: 1, perNetwork: 10, inAll: 20 }

  test('of one network is bounded, and others have theirs', async () => {
    const { ask, many, ended } = directory(limits)
    for (const token of many(30)) void ask(token)
    await pass(0)
    expect(counted(ended)).toEqual({ throttled: 20, unknown: 2 })
    for (const token of many(3)) void ask(token, '192.0.2.2')
    await pass(0)
    expect(counted(ended)).toEqual({ throttled: 20, unknown: 2 })
  })

  test('is shared by those that flood, and as much as each has is left for others', async () => {
    const { ask, many, unseen } = directory(limits)
    await soon(ask(newToken()))
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'])
      for (const token of many(30)) void ask(token, address)
    expect(unseen.waiting).toBeLessThanOrEqual(19)
    const asked = ask(newToken(), '192.0.2.5')
    await pass(3_000)
    expect(await asked).toBe('unknown')
  })

  test("may be taken by all together: then it is nobody's own fault", async () => {
    const { ask, unseen } = directory(limits)
    await soon(ask(newToken()))
    for (let n = 0; n < 20; n++) void ask(newToken(), `192.0.2.${n}`)
    expect(unseen.waiting).toBe(20)
    expect(await soon(ask(newToken(), '192.0.2.77'))).toBe('full')
    expect(await soon(ask(newToken(), '192.0.2.3'))).toBe('throttled')
  })

  test('is taken by requests, though they carry the same token, which is looked up once', async () => {
    const { ask, looked, ended } = directory(limits)
    await soon(ask(newToken()))
    const token = newToken()
    for (let n = 0; n < 15; n++) void ask(token)
    await pass(2_000)
    expect(counted(ended)).toEqual({ unknown: 11, throttled: 5 })
    expect(looked().filter((one) => one === token)).toHaveLength(1)
  })

  test('over any arrivals: the pace and the bound hold, and nobody waits for ever', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 12 }), fc.nat({ max: 900 })), { maxLength: 30 }),
        async (arrivals) => {
          const { ask, many, batches, unseen } = directory(limits)
          const outcomes: Promise<string>[] = []
          const from = performance.now()
          for (const [network, count, pause] of arrivals) {
            outcomes.push(...many(count).map((token) => ask(token, `192.0.2.${network}`)))
            expect(unseen.waiting).toBeLessThanOrEqual(limits.inAll)
            await pass(pause)
            expect(batches.length).toBeLessThanOrEqual(2 + (performance.now() - from) / 1_000)
          }
          await pass(12_000)
          expect(unseen.waiting).toBe(0)
          expect(
            (await Promise.all(outcomes)).every((outcome) => /unknown|throttled|full/.test(outcome)),
          ).toBe(true)
        },
      ),
      { numRuns: 100 },
    )
  })
})

test('a network of IPv6 is one, whatever the last half of an address', async () => {
  const { ask, many, ended } = directory({ perNetwork: 5 })
  for (const [n, token] of many(6).entries()) void ask(token, `2001:db8:0:7::${n}`)
  void ask(newToken(), '2001:db8::7:1:2:3:4')
  void ask(newToken(), '2001:db8:0:8::1')
  void ask(newToken(), '::ffff:192.0.2.9')
  await pass(100)
  expect(counted(ended)).toEqual({ unknown: 7, throttled: 2 })
})

test('after tokens that nobody has comes the rest that room for others says, and none after good ones', async () => {
  const known = new Set<string>()
  const looked: number[] = []
  const worked: (number | string | null)[] = []
  const unseen = new UnseenTokens(
    async (token) => {
      looked.push(performance.now())
      return known.has(token) ? { outcome: 'authenticated', caller } : { outcome: 'unknown' }
    },
    { ...unseenLimits, perBatch: 10 },
    (organization, milliseconds) => {
      worked.push(organization, Math.round(milliseconds))
      return 250
    },
  )
  const askAll = (tokens: readonly string[]) => tokens.map((token) => unseen.find(token, 'a'))
  const tokens = Array.from({ length: 30 }, newToken)
  for (const token of tokens.slice(20)) known.add(token)
  const began = performance.now()
  const asked = askAll(tokens)
  await pass(600)
  await Promise.all(asked)
  expect(looked.map((at) => Math.floor((at - began) / 250))).toEqual(
    [0, 1, 2].flatMap((n) => Array(10).fill(n)),
  )
  expect(worked).toEqual([null, 33, null, 33])
  const next = askAll(tokens.slice(20))
  await pass(10)
  expect(await Promise.all(next)).toHaveLength(10)
})

test('what is mistyped costs no look, and a look-up that fails lets the next one be made', async () => {
  const { ask, looked } = directory()
  for (let n = 0; n < 50; n++) expect(await ask(`${newToken().slice(0, -1)}!`)).toBe('unknown')
  expect(looked()).toEqual([])
  let fails = true
  const unseen = new UnseenTokens(async () => {
    if (fails) throw new Error('the database is away')
    return { outcome: 'unknown' }
  })
  const failed = expect(unseen.find(newToken(), 'a')).rejects.toThrow('away')
  await pass(10)
  await failed
  fails = false
  const next = unseen.find(newToken(), 'a')
  await pass(10)
  expect(await next).toEqual({ outcome: 'unknown' })
})

test('a token that was good and is not any more waits for its turn again', async () => {
  const { known, ask, many } = directory()
  const [good = ''] = many(1)
  known.add(good)
  expect(await soon(ask(good))).toBe('authenticated')
  known.delete(good)
  expect(await ask(good)).toBe('unknown')
  for (const token of many(1_000)) void ask(token)
  expect(await soon(ask(good))).toBe('throttled')
})
