/** What commands about signatures are given. */
import { expect, test } from 'vitest'
import { CommandFailure } from '../../src/failure.ts'
import { forward } from '../../src/listen/forward.ts'
import { eventOf, parseHeaders, readPublicKeys } from '../../src/signatures/input.ts'
import { UsageError } from '../../src/usage-error.ts'

test('headers that begin like JSON and are none are a mistake of the command line', () => {
  expect(() => parseHeaders('{"X-Service')).toThrow(UsageError)
  expect(() => parseHeaders('{"X-Service')).toThrow(/--headers: it begins like JSON/)
})

test('an address at which no keys can be had is one line that says why', async () => {
  const unread = readPublicKeys('http://127.0.0.1:6000/jwks.json')
  await expect(unread).rejects.toThrow(/^--jwks: fetch and browsers refuse to connect to port 6000/)
  await expect(unread).rejects.toThrow(CommandFailure)
})

test('a delivery is not passed on to a port that fetch refuses, and the port is named', async () => {
  const forwarded = await forward('http://127.0.0.1:6000/', {}, Buffer.from('{}'))
  expect(forwarded).toMatchObject({ error: 'fetch refuses port 6000: use another' })
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
