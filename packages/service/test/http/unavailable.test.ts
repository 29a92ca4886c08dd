/** What a client is told when the database fails: that nothing was changed only where that is certain. */
import pino from 'pino'
import { expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'

async function answerTo(error: Error, method: 'GET' | 'POST' = 'POST'): Promise<string> {
  const server = createServer(pino({ level: 'silent' }))
  server.route({ method, url: '/', handler: () => Promise.reject(error) })
  const { statusCode, body } = await server.inject({ method, url: '/' })
  await server.close()
  return `${statusCode} ${JSON.parse(body).code}`
}

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall })
}

test.each([
  ['ECONNREFUSED', 'connect'],
  ['ENOENT', 'connect'],
  ['ETIMEDOUT', 'connect'],
  ['EAI_AGAIN', 'getaddrinfo'],
  ['EHOSTUNREACH', 'connect'],
  ['ENOTFOUND', 'getaddrinfo'],
])('%s of %s: the database was not asked', async (code, syscall) => {
  expect(await answerTo(systemError(code, syscall))).toBe('503 unavailable')
})

test.each([
  ['ETIMEDOUT', 'read'],
  ['ECONNRESET', 'read'],
  ['EPIPE', 'write'],
])('%s of %s: the commit may have happened, and a reader loses nothing', async (code, syscall) => {
  expect(await answerTo(systemError(code, syscall))).toBe('500 internal_error')
  expect(await answerTo(systemError(code, syscall), 'GET')).toBe('503 unavailable')
})

test.each([
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
])(
  'a connection that ends without a word, and what is asked on it then: as one that breaks (%s)',
  async (message) => {
    const ended = new Error(message)
    expect(await answerTo(ended)).toBe('500 internal_error')
    expect(await answerTo(ended, 'GET')).toBe('503 unavailable')
  },
)

test('what is no failure of the database is an internal error to a reader too', async () => {
  expect(await answerTo(new Error('a mistake of ours'), 'GET')).toBe('500 internal_error')
})

test.each([
  ['57014', '503 unavailable'],
  ['40P01', '503 unavailable'],
  ['57P01', '500 internal_error'],
  ['57P02', '500 internal_error'],
])('PostgreSQL says %s: %s', async (code, answer) => {
  expect(await answerTo(Object.assign(new Error('scripted'), { code }))).toBe(answer)
})
