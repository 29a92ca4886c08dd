/** What commands about signatures are given. */
import { expect, test } from 'vitest'
import { eventOf, parseHeaders } from '../../src/signatures/input.ts'
import { UsageError } from '../../src/usage-error.ts'

test('headers that begin like JSON and are none are a mistake of the command line', () => {
  expect(() => parseHeaders('{"X-Service')).toThrow(UsageError)
  expect(() => parseHeaders('{"X-Service')).toThrow(/--headers: it begins like JSON/)
})

test('an event is known by its id and type', () => {
  const bytes = (body: string) => new Uint8Array(Buffer.from(body))
  expect(eventOf(bytes('{"id":"e-1","type":"ticket.created"}'))).toEqual({
    id: 'e-1',
    type: 'ticket.created',
  })
  for (const other of ['', '[]', 'null', '{"id":1,"type":"x"}', '\uFEFF{'])
    expect(eventOf(bytes(other))).toBeNull()
})
