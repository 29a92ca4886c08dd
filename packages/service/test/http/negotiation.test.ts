/** The coding of a response, of those that the client accepts. */
import { expect, test } from 'vitest'
import { acceptedCoding } from '../../src/http/compression.ts'

test.each([
  [undefined, null],
  ['', null],
  ['identity', null],
  ['gzip, deflate', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['br;q=0.1, gzip', 'gzip'],
  ['gzip;q=0.5, br;q=0.5', 'br'],
  ['br;q=0, gzip;q=0', null],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['GZIP ; Q=1.0', 'gzip'],
  ['gzip;q=nonsense', null],
])('of br and gzip, %j likes %j', (accepted, best) => {
  const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
  expect(acceptedCoding({ headers })).toBe(best)
})
