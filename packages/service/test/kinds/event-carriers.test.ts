/** Which event reports which field and action, held against what the rules do (specification 5.2). */
import { describe, expect, test } from 'vitest'
import { kinds } from '../../src/desk/index.ts'
import {
  actionCarriers,
  carrierSentence,
  creationCarriers,
  fieldCarriers,
  updateCarriers,
} from '../../src/kinds/docs/event-carriers.ts'
import { exampleInput, exampleState } from '../../src/kinds/docs/kind-schemas.ts'
import type { Kind } from '../../src/kinds/model/kind.ts'
import type { Carriers } from '../../src/openapi/api-module.ts'
import { explore, exploredCarriers } from './explore-rules.fixture.ts'

const kind = (name: string) => kinds.find((one) => one.name === name) as Kind
const syncOnly = { always: [], sometimes: [], silent: true }

test('every event type of every kind is found, and no other', () => {
  for (const one of kinds) {
    const carriers = [
      creationCarriers(one),
      ...one.fieldNames.map((name) => fieldCarriers(one, name)),
      ...Object.keys(one.actions).map((action) => actionCarriers(one, action)),
      updateCarriers(one),
    ]
    const found = carriers.flatMap(({ always, sometimes }) => [...always, ...sometimes])
    const removed = one.removedEvent === null ? [] : [one.removedEvent]
    expect([...new Set([...found, ...removed])].sort()).toEqual(Object.keys(one.events).sort())
  }
})

describe.each(kinds)('what a $name declares is what its rules do', (kind) => {
  const explored = exploredCarriers(kind)
  const sorted = ({ always, sometimes, silent }: Carriers) => ({
    always: always.toSorted(),
    sometimes: sometimes.toSorted(),
    silent,
  })

  test('of creations and changes', () => {
    expect(sorted(creationCarriers(kind))).toEqual(explored.created)
    if (!kind.immutable) expect(sorted(updateCarriers(kind))).toEqual(explored.updated)
  })

  test.each(kind.fieldNames)('of %s', (name) => {
    expect(sorted(fieldCarriers(kind, name))).toEqual(explored.field(name) ?? explored.created)
  })

  test.each(Object.keys(kind.actions))('of the action %s, which its example can request', (action) => {
    expect(sorted(actionCarriers(kind, action))).toEqual(explored.action(action))
    const inputs = explore(kind).transitions.flatMap(({ by }) =>
      'action' in by && by.action === action ? [by.input] : [],
    )
    expect(inputs).toContainEqual(exampleInput(kind, action))
  })

  test.each(Object.keys(kind.events).filter((type) => type !== kind.removedEvent))(
    'of the example of %s',
    (type) => {
      const { created, transitions } = explore(kind)
      const states = [
        ...created.filter((state) => kind.rules.events(null, state).includes(type)),
        ...transitions.filter(({ events }) => events.includes(type)).map(({ after }) => after),
      ]
      expect(states).toContainEqual({ ...exampleState(kind), ...kind.documentedEvents.examples?.[type] })
    },
  )
})

test('whatever changes of a customer is told, and nothing of a teammate', () => {
  for (const name of kind('customer').fieldNames) {
    expect(fieldCarriers(kind('customer'), name)).toEqual({
      always: ['customer.updated'],
      sometimes: [],
      silent: false,
    })
  }
  for (const name of kind('teammate').fieldNames) {
    expect(carrierSentence(kind('teammate'), name)).toBe('No event: sync only.')
  }
  expect(creationCarriers(kind('teammate')).always).toEqual([])
})

describe('tickets', () => {
  test('a change of status has two events, an assignment brings a third, unassigning does not', () => {
    expect(fieldCarriers(kind('ticket'), 'status').always).toEqual([
      'ticket.updated',
      'ticket.status_changed',
    ])
    expect(fieldCarriers(kind('ticket'), 'assigneeId')).toEqual({
      always: ['ticket.updated'],
      // Assigning a new ticket opens it.
      sometimes: ['ticket.status_changed', 'ticket.assigned'],
      silent: false,
    })
    expect(fieldCarriers(kind('ticket'), 'subject')).toEqual({
      always: ['ticket.updated'],
      sometimes: [],
      silent: false,
    })
  })

  test('what creation alone sets is told by creation', () => {
    expect(carrierSentence(kind('ticket'), 'number')).toBe('Set at creation: reported by `ticket.created`.')
    expect(carrierSentence(kind('ticket'), 'customerId')).toBe(
      'Set at creation: reported by `ticket.created`.',
    )
  })
})

describe('conversations', () => {
  const conversation = kind('conversation')

  test.each(['lastMessageAt', 'subject', 'tags', 'customAttributes', 'externalId'])(
    '%s is sync only',
    (name) => {
      expect(carrierSentence(conversation, name)).toBe('No event: sync only.')
    },
  )

  test('assigning and unassigning are told', () => {
    expect(fieldCarriers(conversation, 'assigneeId')).toEqual({
      always: [],
      sometimes: ['conversation.assigned', 'conversation.unassigned', 'conversation.escalated'],
      silent: false,
    })
  })

  test('a summary that is written is told, and the reopening that one goes with', () => {
    expect(fieldCarriers(conversation, 'summary')).toEqual({
      always: [],
      sometimes: ['conversation.summarized', 'conversation.reopened'],
      silent: false,
    })
  })

  test('no action is without an event', () => {
    const silent = Object.keys(conversation.actions).filter(
      (action) => actionCarriers(conversation, action).silent,
    )
    expect(silent).toEqual([])
    expect(actionCarriers(conversation, 'reopen').always).toEqual(['conversation.reopened'])
    expect(actionCarriers(conversation, 'resolve').always).toEqual(['conversation.resolved'])
  })

  test('losing the customer has no event', () => {
    expect(carrierSentence(conversation, 'customerId')).toBe(
      'Set at creation: reported by `conversation.created`. No event reports that it loses a deleted object: sync only.',
    )
  })
})

test('messages are told of by direction; bookings by each move and by no change of a field', () => {
  expect(creationCarriers(kind('message'))).toEqual({
    always: [],
    sometimes: ['message.received', 'message.sent'],
    silent: false,
  })
  const booking = kind('booking')
  expect(updateCarriers(booking)).toEqual(syncOnly)
  expect(fieldCarriers(booking, 'startAt').always).toEqual(['booking.rescheduled'])
  expect(fieldCarriers(booking, 'status').silent).toBe(false)
  expect(Object.keys(booking.actions).map((action) => actionCarriers(booking, action).always)).toEqual([
    ['booking.confirmed'],
    ['booking.rejected'],
    ['booking.cancelled'],
    ['booking.rescheduled'],
    ['booking.completed'],
    ['booking.no_show'],
  ])
})
