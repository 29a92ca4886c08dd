/** Which changes go together, what happens when a call raises, and that nobody waits for ever. No database. */
import fc from 'fast-check'
import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import { idempotencyRecord } from '../../../testbed/decide.ts'
import { customer } from '../../src/desk/customer/index.ts'
import type { Unit } from '../../src/journal/change.ts'
import {
  type CallPart,
  defaultLimits,
  GroupCommit,
  type GroupLimits,
} from '../../src/journal/group-commit.ts'
import { done } from '../../src/kernel/outcome.ts'

interface Call {
  readonly parts: readonly CallPart[]
  readonly waitsForLock: boolean
  /** Ids of the changes, a list for each organization. */
  readonly ids: readonly (readonly string[])[]
  commit(): void
  fail(error: Error): void
}

/** A database that answers when it is told to. */
function scripted(limits?: Partial<GroupLimits>, elapsed?: () => number) {
  const open: Call[] = []
  const calls: Call[] = []
  const group = new GroupCommit(
    (parts, waitsForLock) =>
      new Promise((resolve, reject) => {
        const ids = parts.map(({ units }) => units.map(({ changes }) => changes[0]!.id))
        const close = () => open.splice(open.indexOf(call), 1)
        const call: Call = {
          parts,
          waitsForLock,
          ids,
          commit() {
            close()
            resolve(ids.map((part) => part.map((id) => done([id]))))
          },
          fail(error) {
            close()
            reject(error)
          },
        }
        open.push(call)
        calls.push(call)
      }),
    ({ changes }) => changes[0]!.operation === 'delete',
    { ...defaultLimits, ...limits },
    elapsed,
  )
  return { group, open, calls }
}

/** A unit of one change. */
function change(id: string, more: { email?: string; key?: string } = {}): Unit {
  const one = {
    ...common(id),
    operation: 'update',
    head: '{',
    columns: { email: more.email ?? null, external_id: null },
    searchDocument: null,
    references: {},
    unique: more.email === undefined ? {} : { email: more.email },
    idempotency: more.key === undefined ? null : idempotencyRecord(more.key),
  } as const
  return { changes: [one] }
}

/** A unit that is large: other rows go with this one. */
function removal(id: string): Unit {
  return { changes: [{ ...common(id), operation: 'delete', erases: false, idempotency: null }] }
}

function common(id: string) {
  const at = '2026-01-31T09:30:00.000Z'
  return { table: customer.table, id, decidedAt: at, expected: at, bytes: 0, contentTerm: '0', events: [] }
}

/** Every setImmediate that is due, and what follows from it. */
async function turn(): Promise<void> {
  for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve))
}

function databaseError(code: string): DatabaseError {
  return Object.assign(new DatabaseError('scripted', 0, 'error'), { code })
}

test('changes of one turn go together, up to the limits', async () => {
  const { group, open } = scripted({ changes: 3, organizations: 2, calls: 3 })
  for (let n = 0; n < 10; n++) void group.submit('a', change(`a${n}`))
  for (const organization of ['b', 'c', 'd']) void group.submit(organization, change(organization))
  await turn()
  expect(open.map(({ ids }) => ids)).toEqual([
    [['a0', 'a1', 'a2'], ['b']],
    [['c'], ['d']],
  ])
  // The first organization has a call under way: a free one is not for it.
  open[1]!.commit()
  await turn()
  expect(open).toHaveLength(1)
  open[0]!.commit()
  await turn()
  expect(open.map(({ ids }) => ids)).toEqual([[['a3', 'a4', 'a5']]])
})

test('organizations of a call are in one order, so that two calls never wait for each other', async () => {
  const { group, open } = scripted()
  for (const organization of ['c', 'a', 'b']) void group.submit(organization, change(organization))
  await turn()
  expect(open[0]!.parts.map(({ organizationId }) => organizationId)).toEqual(['a', 'b', 'c'])
})

test('an organization with a long queue does not hold up the others', async () => {
  const { group, open } = scripted({ changes: 2, organizations: 1, calls: 1 })
  for (let n = 0; n < 20; n++) void group.submit('busy', change(`busy${n}`))
  await turn()
  for (const organization of ['x', 'y', 'z']) void group.submit(organization, change(organization))
  const order: string[] = []
  for (let n = 0; n < 6; n++) {
    order.push(open[0]!.parts[0]!.organizationId)
    open[0]!.commit()
    await turn()
  }
  expect(order).toEqual(['busy', 'busy', 'x', 'y', 'z', 'busy'])
})

const submissions = fc.array(
  fc.record({
    organization: fc.constantFrom('a', 'b', 'c'),
    id: fc.nat({ max: 5 }),
    email: fc.option(fc.nat({ max: 2 }), { freq: 2 }),
    key: fc.option(fc.nat({ max: 2 }), { freq: 2 }),
  }),
  { minLength: 1, maxLength: 40, size: 'max' },
)
const someLimits = fc.record({
  changes: fc.integer({ min: 1, max: 5 }),
  organizations: fc.integer({ min: 1, max: 3 }),
  calls: fc.integer({ min: 1, max: 4 }),
})
const answers = fc.infiniteStream(
  fc.record({ call: fc.nat(), raises: fc.constantFrom(null, null, null, '23514', '57014', 'lost') }),
)

test('nothing under way shares a row, unique value or key; a row keeps its order; everything settles', async () => {
  await fc.assert(
    fc.asyncProperty(submissions, someLimits, answers, async (submissions, limits, answers) => {
      const { group, open, calls } = scripted(limits)
      const started = new Map<string, number[]>()
      const serials = new Map<Unit, number>()
      const keysOf = new Map<Unit, readonly string[]>()
      let settled = 0
      submissions.forEach(({ organization, id, email, key }, n) => {
        const one = change(`${organization}${id}`, {
          ...(email === null ? {} : { email: `e${email}` }),
          ...(key === null ? {} : { key: `k${key}` }),
        })
        serials.set(one, n)
        const own = { id, email, key }
        keysOf.set(
          one,
          Object.entries(own).flatMap(([what, value]) => (value === null ? [] : `${what} ${value}`)),
        )
        const count = () => settled++
        group.submit(organization, one).then(count, count)
      })
      await turn()
      for (let seen = 0; open.length > 0; ) {
        expect(open.length).toBeLessThanOrEqual(limits.calls)
        for (const [organization, parts] of Map.groupBy(
          open.flatMap((call) => call.parts),
          (part) => part.organizationId,
        )) {
          expect(parts.length).toBe(1)
          for (const part of parts) expect(part.units.length).toBeLessThanOrEqual(limits.changes)
          const keys = parts.flatMap((part) => part.units.flatMap((one) => keysOf.get(one) ?? []))
          expect(new Set(keys).size, `keys under way of ${organization}`).toBe(keys.length)
        }
        for (const call of calls.slice(seen)) {
          expect(call.parts.length).toBeLessThanOrEqual(limits.organizations)
          for (const one of call.parts.flatMap(({ units }) => units)) {
            const { id } = one.changes[0]!
            started.set(id, [...(started.get(id) ?? []), serials.get(one)!])
          }
        }
        seen = calls.length
        const { call, raises } = answers.next().value
        const answered = open[call % open.length]!
        if (raises === null) answered.commit()
        else answered.fail(raises === 'lost' ? new Error('lost') : databaseError(raises))
        await turn()
      }
      expect(settled).toBe(submissions.length)
      for (const order of started.values()) expect(order).toEqual(order.toSorted((a, b) => a - b))
    }),
    { numRuns: 200 },
  )
})

test('a call that finds its rows misplaced again and again is refused in the end', async () => {
  const { group, open } = scripted()
  const settled = Promise.allSettled([group.submit('a', change('a1'))])
  await turn()
  for (let n = 0; n < 20 && open.length > 0; n++) {
    open[0]!.fail(databaseError('23514'))
    await turn()
  }
  expect(open).toEqual([])
  expect(await settled).toMatchObject([{ status: 'rejected', reason: { code: '23514' } }])
})

test('a call that raised is run again: each organization, and in the one that raises each change', async () => {
  const { group, open, calls } = scripted()
  const outcomes = ['a1', 'a2', 'b1', 'b2'].map((id) => group.submit(id[0]!, change(id)))
  const settled = Promise.allSettled(outcomes)
  await turn()
  const raised = databaseError('22003')
  const answer = async (error: Error | null) => {
    if (error === null) open[0]!.commit()
    else open[0]!.fail(error)
    await turn()
  }
  await answer(raised) // both
  await answer(raised) // a
  await answer(null) // a1
  await answer(raised) // a2
  await answer(null) // b
  expect(calls.map(({ ids }) => ids)).toEqual([
    [
      ['a1', 'a2'],
      ['b1', 'b2'],
    ],
    [['a1', 'a2']],
    [['a1']],
    [['a2']],
    [['b1', 'b2']],
  ])
  expect((await settled).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ])
  // Its endpoint queues are free again.
  const next = group.submit('a', change('a2'))
  await turn()
  open[0]!.commit()
  expect(await next).toEqual(done(['a2']))
})

test('what is large goes in a call of its own, and its organization waits for it', async () => {
  const { group, open } = scripted()
  for (const unit of [change('a1'), removal('a2'), change('a3')]) void group.submit('a', unit)
  void group.submit('b', change('b1'))
  await turn()
  expect(open.map(({ ids }) => ids)).toEqual([[['a1'], ['b1']]])
  open[0]!.commit()
  await turn()
  void group.submit('b', change('b2'))
  await turn()
  expect(open.map(({ ids, waitsForLock }) => ({ ids, waitsForLock }))).toEqual([
    { ids: [['a2']], waitsForLock: true },
    { ids: [['b2']], waitsForLock: false },
  ])
  open[0]!.commit()
  await turn()
  expect(open.at(-1)!.ids).toEqual([['a3']])
})

test('no more than so many that reach far are under way, and others go on beside them', async () => {
  const { group, open } = scripted({ calls: 1, longCalls: 2 })
  for (const name of ['a', 'b', 'c']) void group.submit(name, removal(name))
  void group.submit('d', change('d'))
  await turn()
  expect(open.map(({ ids }) => ids)).toEqual([[['a']], [['b']], [['d']]])
  open[0]!.commit()
  await turn()
  expect(open.at(-1)!.ids).toEqual([['c']])
})

test('an organization whose clock is held elsewhere is found and waits by itself', async () => {
  const { group, open, calls } = scripted()
  const settled = Promise.all(['a1', 'a2', 'b1'].map((id) => group.submit(id[0]!, change(id))))
  await turn()
  open[0]!.fail(databaseError('55P03'))
  await turn()
  // Both again, each by itself.
  expect(open.map(({ ids }) => ids)).toEqual([[['a1', 'a2']], [['b1']]])
  open[1]!.commit()
  open[0]!.fail(databaseError('55P03'))
  await turn()
  expect(open.map(({ ids, waitsForLock }) => ({ ids, waitsForLock }))).toEqual([
    { ids: [['a1', 'a2']], waitsForLock: true },
  ])
  void group.submit('b', change('b2'))
  await turn()
  expect(open.at(-1)!.ids).toEqual([['b2']])
  open[0]!.commit()
  expect(await settled).toHaveLength(3)
  expect(calls).toHaveLength(5)
})

test('an organization whose clock was held elsewhere goes without any other for a while, and then with them again', async () => {
  let now = 0
  const { group, open } = scripted({ isolatedFor: 1_000 }, () => now)
  void group.submit('a', change('a1'))
  await turn()
  open[0]!.fail(databaseError('55P03'))
  await turn()
  open[0]!.commit()
  await turn()
  const together = async (...ids: string[]) => {
    for (const id of ids) void group.submit(id[0]!, change(id))
    await turn()
    const calls = open.map(({ ids }) => ids)
    for (const call of [...open]) call.commit()
    await turn()
    return calls
  }
  expect(await together('a2', 'b1', 'c1')).toEqual([[['a2']], [['b1'], ['c1']]])
  expect(await together('b2', 'a3', 'c2')).toEqual([[['b2'], ['c2']], [['a3']]])
  now = 1_000
  expect(await together('a4', 'b3')).toEqual([[['a4'], ['b3']]])
})

test('those that reach far take turns, however many of one organization wait', async () => {
  const { group, open } = scripted({ longCalls: 1 })
  for (const id of ['a1', 'a2', 'a3', 'b1', 'c1']) void group.submit(id[0]!, removal(id))
  const order: string[] = []
  for (let n = 0; n < 5; n++) {
    await turn()
    order.push(open[0]!.ids[0]![0]!)
    open[0]!.commit()
  }
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'a3'])
})

/** Clock tasks that end when they are told to. */
function scriptedExclusiveTasks(group: GroupCommit) {
  const open: {
    readonly name: string
    readonly waitsForLock: boolean
    done(): void
    fail(error: Error): void
  }[] = []
  const settled: string[] = []
  return {
    open,
    settled,
    begin(organization: string, name: string) {
      const run = (waitsForLock: boolean) =>
        new Promise<string>((resolve, reject) => {
          const close = () => open.splice(open.indexOf(exclusiveTask), 1)
          const exclusiveTask = {
            name,
            waitsForLock,
            done: () => [close(), resolve(name)],
            fail: (error: Error) => [close(), reject(error)],
          }
          open.push(exclusiveTask)
        })
      group.exclusiveTask(organization, run).then(
        (answer) => settled.push(answer),
        (error: { code?: string }) => settled.push(`${name}: ${error.code}`),
      )
    },
  }
}

test('exclusive tasks go one at a time beside the units of their organization, and not while a large one is under way', async () => {
  const { group, open } = scripted()
  const exclusiveTasks = scriptedExclusiveTasks(group)
  for (const name of ['x', 'y']) exclusiveTasks.begin('a', name)
  void group.submit('a', change('a1'))
  await turn()
  expect([exclusiveTasks.open.map(({ name }) => name), open.map(({ ids }) => ids)]).toEqual([
    ['x'],
    [[['a1']]],
  ])
  expect(group.pending).toBe(3)
  void group.submit('a', removal('a2'))
  open[0]!.commit()
  await turn()
  expect(open.map(({ ids }) => ids)).toEqual([[['a2']]])
  exclusiveTasks.open[0]!.done()
  exclusiveTasks.begin('b', 'z')
  await turn()
  expect(exclusiveTasks.open.map(({ name }) => name)).toEqual(['z'])
  open[0]!.commit()
  await turn()
  expect(exclusiveTasks.open.map(({ name, waitsForLock }) => [name, waitsForLock])).toEqual([
    ['z', false],
    ['y', false],
  ])
  for (const exclusiveTask of [...exclusiveTasks.open]) exclusiveTask.done()
  await turn()
  expect([exclusiveTasks.settled, group.pending]).toEqual([['x', 'z', 'y'], 0])
})

test('a exclusive task that finds the clock held waits for the lock the next time, in places of which there are few', async () => {
  const { group, open } = scripted({ lockWaitCalls: 2 })
  const exclusiveTasks = scriptedExclusiveTasks(group)
  const held = databaseError('55P03')
  for (const organization of ['a', 'b', 'c']) {
    exclusiveTasks.begin(organization, `${organization}1`)
    exclusiveTasks.begin(organization, `${organization}2`)
  }
  await turn()
  for (const exclusiveTask of [...exclusiveTasks.open]) exclusiveTask.fail(held)
  await turn()
  const now = () => exclusiveTasks.open.map(({ name, waitsForLock }) => [name, waitsForLock])
  expect(now()).toEqual([
    ['a1', true],
    ['b1', true],
  ])
  // Others neither wait for them nor for the places.
  void group.submit('d', change('d1'))
  exclusiveTasks.begin('d', 'd2')
  await turn()
  expect(open.map(({ ids }) => ids)).toEqual([[['d1']]])
  expect(now()[2]).toEqual(['d2', false])
  // In vain: it is another's turn, and comes again.
  exclusiveTasks.open[0]!.fail(held)
  await turn()
  expect(now()).toEqual([
    ['b1', true],
    ['d2', false],
    ['c1', true],
  ])
  exclusiveTasks.open[0]!.done()
  await turn()
  expect(now().sort()).toEqual([
    ['a1', true],
    ['b2', false],
    ['c1', true],
    ['d2', false],
  ])
})

test('what waits for a clock that is held for half a minute fails, units and exclusive tasks alike', async () => {
  let now = 0
  const { group, open } = scripted({ giveUpAfter: 30_000 }, () => now)
  const exclusiveTasks = scriptedExclusiveTasks(group)
  const held = databaseError('55P03')
  const unit = group.submit('a', change('a1')).catch((error: DatabaseError) => error.code)
  await turn()
  open[0]!.fail(held)
  now = 1
  exclusiveTasks.begin('a', 'x')
  await turn()
  now = 29_000
  exclusiveTasks.begin('a', 'late')
  open[0]!.fail(held)
  await turn()
  expect(open[0]!.waitsForLock).toBe(true)
  now = 31_000
  open[0]!.fail(held)
  await turn()
  expect([await unit, exclusiveTasks.settled]).toEqual(['55P03', ['x: 55P03']])
  expect(exclusiveTasks.open.map(({ name, waitsForLock }) => [name, waitsForLock])).toEqual([['late', true]])
  exclusiveTasks.open[0]!.done()
  await turn()
  expect(exclusiveTasks.settled).toEqual(['x: 55P03', 'late'])
})

test('a call that ran out of time is not run again change by change, each with as much time', async () => {
  const { group, open, calls } = scripted()
  const settled = Promise.allSettled(['a1', 'a2', 'a3'].map((id) => group.submit('a', change(id))))
  await turn()
  open[0]!.fail(databaseError('57014'))
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(calls).toHaveLength(1)
})

test.each([
  ['a connection that broke', new Error('Connection terminated unexpectedly')],
  ['a system error', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })],
  ['a connection exception', databaseError('08006')],
  ['an administrator who ends it', databaseError('57P01')],
  ['a crash of the server', databaseError('57P02')],
  ['a system error of the server', databaseError('58030')],
  ['an internal error of the server', databaseError('XX000')],
])('%s says nothing about the commit, so it is not run again', async (_what, error) => {
  const { group, open, calls } = scripted()
  const settled = Promise.allSettled(['a', 'b', 'b2'].map((id) => group.submit(id[0]!, change(id))))
  await turn()
  open[0]!.fail(error)
  expect(await settled).toEqual(Array(3).fill({ status: 'rejected', reason: error }))
  expect(calls).toHaveLength(1)
})

test('is idle once all is committed, and its exclusive tasks have ended', async () => {
  const { group, open } = scripted()
  await group.idle()
  const exclusiveTasks = scriptedExclusiveTasks(group)
  exclusiveTasks.begin('a', 'a1')
  void group.submit('b', change('b1'))
  let isIdle = false
  void group.idle().then(() => {
    isIdle = true
  })
  await turn()
  open[0]?.commit()
  await turn()
  expect(isIdle).toBe(false)
  exclusiveTasks.open[0]?.done()
  await turn()
  expect([isIdle, group.pending]).toEqual([true, 0])
})

test('a unit whose signal aborts while it waits is not committed; one that is being committed goes on', async () => {
  const { group, open, calls } = scripted()
  const gone = new AbortController()
  const reason = new Error('disconnected')
  const first = group.submit('a', { ...change('1'), signal: gone.signal })
  await turn()
  const refused = expect(group.submit('a', { ...change('2'), signal: gone.signal })).rejects.toBe(reason)
  const stays = group.submit('a', change('3'))
  await turn()
  gone.abort(reason)
  await refused
  await expect(group.submit('a', { ...change('4'), signal: gone.signal })).rejects.toBe(reason)
  open[0]?.commit()
  await turn()
  open[0]?.commit()
  expect([(await first).outcome, (await stays).outcome, group.pending]).toEqual(['done', 'done', 0])
  expect(calls.map(({ ids }) => ids)).toEqual([[['1']], [['3']]])
})

test.each([
  ['another process holds its clock', '55P03'],
  ['its week was made meanwhile', '23514'],
  ['another unit of the call raised', '22000'],
])('a unit whose signal aborts during its call is not committed again after %s', async (_, code) => {
  const { group, open, calls } = scripted()
  const gone = new AbortController()
  const left = expect(group.submit('a', { ...change('1'), signal: gone.signal })).rejects.toBe('left')
  const stays = group.submit('a', change('2'))
  await turn()
  gone.abort('left')
  open[0]!.fail(databaseError(code))
  await turn()
  while (open[0] !== undefined) {
    open[0].commit()
    await turn()
  }
  await left
  expect(await stays).toMatchObject({ outcome: 'done' })
  expect(calls.slice(1).flatMap(({ ids }) => ids.flat())).toEqual(['2'])
})
