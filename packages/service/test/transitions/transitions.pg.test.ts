/** Every move in every state of every kind, over HTTP: where it leads and what it tells, or that it is refused. */
import { beforeAll, describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeTeammate } from '../../../testbed/desk.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'
import { kinds } from '../../src/desk/index.ts'
import { booking } from './booking.ts'
import { conversation } from './conversation.ts'
import type { Machine, Stage } from './machine.ts'
import { ticket } from './ticket.ts'

const machines: readonly Machine[] = [ticket, conversation, booking]
const clock = testClock()
const shared = sharedService({ clock })

let stage: Stage
beforeAll(async () => {
  const { api } = shared()
  stage = { api, teammateId: (await makeTeammate(api)).id, advance: clock.advance }
})

test('the tables are of every kind that has a status or an action, and have its every action', () => {
  const moving = kinds.filter(({ actions, fields }) => 'status' in fields || Object.keys(actions).length > 0)
  expect(machines.map(({ kind }) => kind).sort()).toEqual(moving.map(({ name }) => name).sort())
  for (const { kind, moves } of machines) {
    const actions = Object.keys(moving.find(({ name }) => name === kind)?.actions ?? {})
    expect(Object.keys(moves)).toEqual(expect.arrayContaining(actions))
  }
})

describe.concurrent.each(machines)('$kind', ({ kind, plural, states, moves, table, stateOf }) => {
  test('the table is total', () => {
    expect(Object.keys(table).sort()).toEqual(Object.keys(states).sort())
    for (const row of Object.values(table)) expect(Object.keys(row).sort()).toEqual(Object.keys(moves).sort())
  })

  const cases = Object.entries(table).flatMap(([state, row]) =>
    Object.entries(row).map(([move, cell]) => ({ state, move, cell, expected: shown(cell) })),
  )
  test.each(cases)('$state: $move → $expected', async ({ state, move, cell }) => {
    const { api } = stage
    const id = await states[state]!(stage)
    const path = `/v1/${plural}/${id}`
    const before = await api.get(path)
    expect(state.split(',')[0]).toBe(stateOf(before.json))
    const eventsBefore = (await storedEvents(shared(), api.organizationId, id)).length

    const answer = await moves[move]!(stage, id)
    const after = await api.get(path)
    const events = (await storedEvents(shared(), api.organizationId, id)).slice(eventsBefore)
    const told = events.map(({ type }) => type).sort()

    if (typeof cell !== 'string') {
      expect([answer.status, answer.json.code]).toEqual([409, cell.refused])
      for (const name of cell.names) expect(answer.json.detail).toContain(name)
      expect(namedMoves(answer.json.detail)).toEqual(
        cell.refused === 'invalid_transition' ? cell.names.slice(1).sort() : [],
      )
      expect(after.text).toBe(before.text)
      expect(told).toEqual([])
      return
    }
    expect(answer.status, answer.text).toBeLessThan(300)
    const reached = after.status === 404 ? 'removed' : stateOf(after.json)
    expect(`${reached}: ${told.join(' ')}`.trim()).toBe(cell)
    if (after.status === 404) return
    expect(answer.text).toBe(after.text)
    for (const event of events.slice(-1)) expect(event.body).toBe(after.text)
    if (told.length > 0) expect(after.json.updatedAt > before.json.updatedAt).toBe(true)
    expect(after.json.object).toBe(kind)
  })
})

function shown(cell: Machine['table'][string][string]): string {
  return typeof cell === 'string' ? cell : `409 ${cell.refused}`
}

/** The moves that a refusal offers: what stands at its end, after the last colon. */
function namedMoves(detail: string): string[] {
  const offered = /(?:Possible now|allowed from \w+): (.+)\.$/.exec(detail)?.[1]
  return offered === undefined ? [] : offered.split(', ').sort()
}
