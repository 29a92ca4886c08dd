/** What a client is told when the database fails: that nothing was changed only where that is certain. */
import { DatabaseError } from 'pg'
import pino from 'pino'
import { expect, test, vi } from 'vitest'
import { explainDatabaseFailure } from '../../src/db/failure.ts'
import { createServer } from '../../src/http/server.ts'

async function answerTo(error: Error, method: 'GET' | 'POST' = 'POST'): Promise<string> {
  const { status, code } = await problemOf(error, method)
  return `${status} ${code}`
}

async function detailOf(error: Error): Promise<string> {
  return (await problemOf(error, 'POST')).detail
}

async function problemOf(
  error: Error,
  method: 'GET' | 'POST',
): Promise<{ status: number; code: string; detail: string }> {
  const server = createServer(pino({ level: 'silent' }))
  server.route({ method, url: '/', handler: () => Promise.reject(error) })
  const { statusCode, body } = await server.inject({ method, url: '/' })
  await server.close()
  return { ...JSON.parse(body), status: statusCode }
}

function serverError(code: string, severity = 'ERROR'): DatabaseError {
  return Object.assign(new DatabaseError('scripted', 0, 'error'), { code, severity })
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

test.each(['Connection terminated', 'Connection terminated unexpectedly', 'Query read timeout'])(
  'a connection that ends without a word: as one that breaks (%s)',
  async (message) => {
    const ended = new Error(message)
    expect(await answerTo(ended)).toBe('500 internal_error')
    expect(await answerTo(ended, 'GET')).toBe('503 unavailable')
  },
)

test.each([
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
])('what pg did not send: nothing was changed (%s)', async (message) => {
  expect(await answerTo(new Error(message))).toBe('503 unavailable')
})

test('what is no failure of the database is an internal error to a reader too', async () => {
  expect(await answerTo(new Error('a mistake of ours'), 'GET')).toBe('500 internal_error')
})

test.each([
  // Never asked, or ended by the server before it could commit.
  ['57014', '503 unavailable'],
  ['40P01', '503 unavailable'],
  ['57P03', '503 unavailable'],
  ['57P05', '503 unavailable'],
  ['25006', '503 unavailable'],
  ['25P03', '503 unavailable'],
  ['08001', '503 unavailable'],
  ['08004', '503 unavailable'],
  ['28P01', '503 unavailable'],
  ['3D000', '503 unavailable'],
  ['53000', '503 unavailable'],
  ['53100', '503 unavailable'],
  ['53200', '503 unavailable'],
  ['53300', '503 unavailable'],
  ['53400', '503 unavailable'],
  ['58030', '503 unavailable'],
  ['58P01', '503 unavailable'],
  // The connection ended, and with it the word on the commit.
  ['08006', '500 internal_error'],
  ['08P01', '500 internal_error'],
  ['57P01', '500 internal_error'],
  ['57P02', '500 internal_error'],
  ['57P04', '500 internal_error'],
])('PostgreSQL says %s: %s', async (code, answer) => {
  expect(await answerTo(serverError(code, code.startsWith('57P') ? 'FATAL' : 'ERROR'))).toBe(answer)
  expect(await answerTo(serverError(code), 'GET')).toBe('503 unavailable')
})

test.each([
  'server login has been failing, try again later (server_login_retry)',
  'pgbouncer cannot connect to server',
  'query_wait_timeout',
  'client_login_timeout (server down)',
  'no more connections allowed (max_client_conn)',
])('PgBouncer has no PostgreSQL to ask: %s', async (message) => {
  const error = Object.assign(serverError('08P01', 'FATAL'), { message })
  expect(await answerTo(error)).toBe('503 unavailable')
})

test.each(['EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EADDRNOTAVAIL', 'CERT_HAS_EXPIRED'])(
  '%s without a word on what was tried: no connection was made',
  async (code) => {
    expect(await answerTo(Object.assign(new Error(code), { code }))).toBe('503 unavailable')
  },
)

test('an error that PostgreSQL rolled back is answered as one that changed nothing', async () => {
  expect(await detailOf(serverError('23514'))).toMatch(/nothing was changed/)
  expect(await detailOf(serverError('XX000'))).toMatch(/nothing was changed/)
  expect(await detailOf(serverError('XX000', 'PANIC'))).toMatch(/may or may not have taken effect/)
  expect(await detailOf(new Error('a mistake of ours'))).toMatch(/may or may not have taken effect/)
})

test.each([
  ['28000', 'no pg_hba.conf entry for host "10.0.0.1", user "u", database "d", no encryption'],
  ['28000', 'no pg_hba.conf entry for host "10.0.0.1", user "u", database "d", SSL off'],
  ['28000', 'SSL connection is required. Please specify SSL options and retry.'],
  ['08P01', 'SSL required'],
  // In the language of the server.
  [
    '28000',
    'kein pg_hba.conf-Eintrag für Host »10.0.0.1«, Benutzer »u«, Datenbank »d«, keine Verschlüsselung',
  ],
])('a server that wants TLS (%s, %s): the start names sslmode=require', (code, message) => {
  expect(explainDatabaseFailure(Object.assign(serverError(code, 'FATAL'), { message }))).toMatch(
    /wants TLS,?:? add sslmode=require/,
  )
})

test('an outage logs a line at most once a second, with the number of those that were left out', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const lines: { omitted?: number; msg: string }[] = []
  const server = createServer(pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line)) }))
  server.get('/', () => Promise.reject(systemError('ECONNREFUSED', 'connect')))
  try {
    for (let n = 0; n < 20; n++) expect((await server.inject('/')).statusCode).toBe(503)
    expect(lines).toHaveLength(1)
    vi.advanceTimersByTime(1_000)
    vi.advanceTimersByTime(5_000)
    expect(lines.map(({ omitted }) => omitted)).toEqual([undefined, 18])
    await server.inject('/')
    expect(lines).toHaveLength(3)
  } finally {
    vi.useRealTimers()
    await server.close()
  }
})
