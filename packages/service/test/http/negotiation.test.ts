/** What a request likes best of what is offered. */
import { expect, test } from 'vitest'
import { preferred } from '../../src/http/negotiation.ts'

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
  expect(preferred(accepted, ['br', 'gzip'])).toBe(best)
})

test.each([
  ['*/*', 'text/markdown'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
  ['text/*;q=0.3, text/html;q=0.2', 'text/markdown'],
  ['text/html;charset=utf-8', 'text/html'],
  ['application/json', null],
])('of Markdown and HTML, %j likes %j', (accepted, best) => {
  expect(preferred(accepted, ['text/markdown', 'text/html'])).toBe(best)
})
