/** What an operator can do wrong at a start: each ends it with exit code 1, or 2 for a setting, and one line that says what to set. */
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, escapeLiteral } from 'pg'
import { expect, test } from 'vitest'
import { runHere } from '../../../cli/test/run-here.ts'
import { ADMIN_ROLE } from '../../../embedded-postgres/src/settings.ts'
import { type TestDatabase, testDatabase } from '../../../testbed/database.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { freePort, listening } from '../../../testbed/loopback.ts'
import { createServices, type Environment, socketUrl } from '../../../testbed/services.ts'

const key = { DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }

/** The log tells of nothing but of what is grave. */
const quiet = { ...key, DESKWIRE_LOG_LEVEL: 'error' }

/** Runs `serve` to its end: its exit code, and all that it said. As a process: sockets of its own end with it. */
async function serveInVain(args: readonly string[], environment: Environment = {}) {
  await using services = createServices()
  return await services.start(['serve', '--port', '0', ...args], { ...quiet, ...environment }).ended
}

/** One line on standard error, none on the other. */
const oneLine = (pattern: RegExp) => ({
  code: 1,
  stdout: '',
  stderr: expect.stringMatching(new RegExp(`^deskwire: ${pattern.source}[^\\n]*\\n$`)),
})

interface Role extends AsyncDisposable {
  readonly name: string
  /** With the rights of the server's owner. */
  query<R>(text: string, values?: readonly unknown[]): Promise<readonly R[]>
}

/** A role that owns nothing and may do nothing; whoever the tests connect as may take it on. */
async function poorRole({ connection, name }: TestDatabase, attributes = ''): Promise<Role> {
  const client = new Client({ ...connection, user: ADMIN_ROLE })
  await client.connect()
  const role = `poor_${name}`
  const query: Role['query'] = async (text, values = []) => (await client.query(text, [...values])).rows
  await query(`create role ${role} ${attributes}`)
  await query(`grant ${role} to ${connection.user}`)
  return {
    name: role,
    query,
    async [Symbol.asyncDispose]() {
      await query(`drop owned by ${role}`)
      await query(`drop role ${role}`)
      await client.end()
    },
  }
}

/** The URL of a database, with settings of its sessions. */
const withOptions = (url: string, options: string) => `${url}&options=${encodeURIComponent(`-c ${options}`)}`

/** Runs a role that finds this database. All roles prepare it alike: what is wrong with it is told by one, and that each looks by both. */
const serveAt = (url: string, role = 'all') =>
  runHere(['serve', '--port', '0', '--role', role, '--database-url', url], { settings: quiet })

for (const role of ['all', 'worker'] as const) {
  test(`${role}: nothing listens there, or nobody has that name`, async () => {
    const nowhere = await serveAt(`postgres://someone:hidden@127.0.0.1:${await freePort()}/desk`, role)
    expect(nowhere).toEqual(
      oneLine(/the database cannot be used: connect ECONNREFUSED .*; see that .*DESKWIRE_DATABASE_URL/),
    )
    const nobody = await serveAt('postgres://someone:hidden@no-such-host.invalid/desk', role)
    expect(nobody).toEqual(
      oneLine(/the database cannot be used: getaddrinfo .*; see that .*DESKWIRE_DATABASE_URL/),
    )
    expect(nowhere.stderr + nobody.stderr).not.toContain('hidden')
  })

  test(`${role}: a schema of a later release`, async () => {
    await using database = await testDatabase()
    await database.pool.query(`insert into schema_migrations (id) values ('20991231-01-later')`)
    expect(await serveAt(socketUrl(database.connection), role)).toEqual(
      oneLine(/the database is newer than this version of Deskwire: .*20991231-01-later; start the version/),
    )
  })
}

test('a database that is not there', async () => {
  await using database = await testDatabase({ template: null })
  const url = socketUrl({ ...database.connection, database: 'no_such_desk' })
  expect(await serveAt(url)).toEqual(
    oneLine(
      /the database cannot be used: database "no_such_desk" does not exist; make it .*DESKWIRE_DATABASE_URL/,
    ),
  )
})

test('a role that may create nothing', async () => {
  await using database = await testDatabase({ template: null })
  await using poor = await poorRole(database)
  await poor.query('revoke create on schema public from public')
  const url = withOptions(socketUrl(database.connection), `role=${poor.name}`)
  expect(await serveAt(url)).toEqual(
    oneLine(
      /the database cannot be used: permission denied for schema public; the role in DESKWIRE_DATABASE_URL/,
    ),
  )
  await poor.query('revoke usage on schema public from public')
  expect(await serveAt(url)).toEqual(
    oneLine(/the database cannot be used: no schema has been selected to create in; the role in/),
  )
})

test('tables of another role', async () => {
  await using database = await testDatabase()
  await using poor = await poorRole(database)
  await poor.query(`grant create, usage on schema public to ${poor.name}`)
  expect(await serveAt(withOptions(socketUrl(database.connection), `role=${poor.name}`))).toEqual(
    oneLine(/the database cannot be used: permission denied for table schema_migrations; the role in/),
  )
})

test('a standby, as one that may only be read', async () => {
  await using database = await testDatabase()
  const url = withOptions(socketUrl(database.connection), 'default_transaction_read_only=on')
  expect(await serveAt(url)).toEqual(
    oneLine(/the database cannot be used: cannot execute .* in a read-only transaction; .*name the primary/),
  )
})

test('a schema from before the first release', async () => {
  await using database = await testDatabase({ template: null })
  await database.pool.query('create table schema_migrations (id text primary key)')
  await database.pool.query(`insert into schema_migrations values ('20261120-01-core')`)
  expect(await serveAt(socketUrl(database.connection))).toEqual(
    oneLine(/the database was made before the first release of Deskwire, .*: export what it holds with/),
  )
})

test('a database whose encoding cannot hold all text', async () => {
  await using database = await testDatabase({ template: null })
  const latin = `latin_${database.name}`
  await database.pool.query(
    `create database ${latin} encoding 'LATIN1' locale 'C' locale_provider libc template template0`,
  )
  try {
    const url = socketUrl({ ...database.connection, database: latin })
    expect(await serveAt(url)).toEqual(
      oneLine(/the encoding of the database is LATIN1, and has to be UTF8; make one with create database/),
    )
  } finally {
    await database.pool.query(`drop database ${latin} with (force)`)
  }
})

test('a password that is missing, or wrong', async () => {
  await using database = await testDatabase({ template: null })
  await using locked = await poorRole(database, `login password 'right'`)
  // The server of all tests, whose files it alone can write; the line is about this role alone.
  const [found] = await locked.query<{ path: string; text: string }>(
    `select current_setting('hba_file') as path, pg_read_file(current_setting('hba_file')) as text`,
  )
  const { path, text: before } = found as { path: string; text: string }
  const rule = async (text: string) => {
    const lines = `select string_to_table(${escapeLiteral(text.trimEnd())}, chr(10))`
    await locked.query(`copy (${lines}) to ${escapeLiteral(path)}`)
    await locked.query('select pg_reload_conf()')
  }
  await rule(`local all ${locked.name} scram-sha-256\n${before}`)
  try {
    const serve = (user: string) =>
      serveInVain(['--database-url', socketUrl({ ...database.connection, user })])
    const wrong = await eventually('it asks for a password', async () => {
      const ran = await serve(`${locked.name}:hidden`)
      return /password/.test(ran.stderr) ? ran : null
    })
    expect(wrong).toEqual(
      oneLine(
        /the database cannot be used: password authentication failed for user .*; check the user and the password/,
      ),
    )
    expect(wrong.stderr).not.toContain('hidden')
    expect(await serve(locked.name)).toEqual(
      oneLine(
        /the database cannot be used: SASL.*; check the user and the password in DESKWIRE_DATABASE_URL/,
      ),
    )
  } finally {
    await rule(before)
  }
})

test('a server that accepts and says nothing', async () => {
  await using silent = await listening(createServer((socket) => socket.on('error', () => {}).resume()))
  expect(await serveInVain(['--database-url', `postgres://someone@127.0.0.1:${silent.port}/desk`])).toEqual(
    oneLine(/the database cannot be used: .*timeout.*; see that a PostgreSQL answers/),
  )
})

test('a port that is taken', async () => {
  await using database = await testDatabase()
  await using taken = await listening(createServer())
  const { port } = taken
  const url = socketUrl(database.connection)
  const api = await serveInVain(['--role', 'api', '--port', String(port), '--database-url', url], {
    DESKWIRE_BOOTSTRAP_KEY: '',
  })
  expect(api).toMatchObject({
    code: 1,
    stderr: `deskwire: cannot listen on 127.0.0.1, port ${port}: something else listens there; set DESKWIRE_HOST and DESKWIRE_PORT (port 0 picks a free one)\n`,
  })
  const worker = await serveInVain(['--role', 'worker', '--port', String(port), '--database-url', url])
  expect(worker).toEqual(oneLine(/cannot listen on 127\.0\.0\.1, port \d+: .*DESKWIRE_PORT/))
})

test('a data directory that cannot be one, and authorities that cannot be read', async () => {
  await using files = await mkdtempDisposable(join(tmpdir(), 'deskwire-start-'))
  const file = join(files.path, 'file')
  await writeFile(file, 'no certificate')
  expect(
    await runHere(['serve', '--port', '0', '--data-dir', join(file, 'data')], { settings: quiet }),
  ).toEqual(oneLine(/the data directory .* cannot be used \(.*\): give DESKWIRE_DATA_DIR a directory/))
  await using database = await testDatabase()
  const authorities = ['--database-url', socketUrl(database.connection), '--target-ca', file]
  expect(await runHere(['serve', '--port', '0', ...authorities], { settings: quiet })).toEqual({
    ...oneLine(/DESKWIRE_TARGET_CA: .* it must be a PEM file/),
    code: 2,
  })
})
