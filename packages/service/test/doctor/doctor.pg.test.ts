/** The doctor finds each fault where it is really there, and says what to do; where all is well it says so. */
import { chmod, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ADMIN_ROLE } from '../../../embedded-postgres/src/settings.ts'
import { createAuthority } from '../../../testbed/certificates.ts'
import { testClock } from '../../../testbed/clock.ts'
import { testDatabase } from '../../../testbed/database.ts'
import { startDnsServer } from '../../../testbed/dns-server.ts'
import { makeWebhook } from '../../../testbed/hooks.ts'
import { type Receiver, startReceiver } from '../../../testbed/receiver.ts'
import { testService } from '../../../testbed/service.ts'
import { socketUrl } from '../../../testbed/services.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { readConfig } from '../../src/config.ts'
import { rotateEncryptionKey } from '../../src/delivery/endpoint/key-rotation.ts'
import { checkDisk, diskFinding, examine } from '../../src/doctor/examine.ts'
import { type Finding, verdictOf } from '../../src/doctor/finding.ts'
import { checkKeyFile } from '../../src/doctor/keys.ts'

const keyOf = (byte: number) => Buffer.alloc(32, byte)
const shared = sharedService({ settings: { encryptionKey: keyOf(7) } })
const url = () => socketUrl(shared().database.connection)
const withOptions = (options: string) => `${url()}&options=${encodeURIComponent(`-c ${options}`)}`

const authority = createAuthority()
let receiver: Receiver
let directory: Awaited<ReturnType<typeof mkdtempDisposable>>
let dns: Awaited<ReturnType<typeof startDnsServer>>
/** What the doctor is asked with, unless told. */
let well: Record<string, string>

beforeAll(async () => {
  directory = await mkdtempDisposable(join(tmpdir(), 'deskwire-doctor-'))
  receiver = await startReceiver(authority.issue(['127.0.0.1']))
  dns = await startDnsServer()
  const ca = join(directory.path, 'ca.pem')
  await writeFile(ca, authority.ca)
  well = {
    DESKWIRE_DATABASE_URL: url(),
    DESKWIRE_ENCRYPTION_KEY: keyOf(7).toString('base64'),
    DESKWIRE_TRUSTED_TARGETS: '127.0.0.0/8',
    DESKWIRE_TARGET_CA: ca,
    DESKWIRE_DNS_SERVERS: dns.address,
  }
})

afterAll(async () => {
  await receiver.close()
  await dns.close()
  await directory.remove()
})

/** The findings with these settings beside those of an installation that is well; an empty one is not set. */
async function findings(settings: Record<string, string> = {}, endpoint: string | null = null) {
  const environment = { ...well, ...settings }
  const config = readConfig(environment)
  if (!config.ok) throw new Error(config.error)
  return examine({ config: config.value, environment, endpoint, log: pino({ level: 'silent' }) })
}

/** Those of one check, as the command prints them. */
async function of(check: string, settings: Record<string, string> = {}, endpoint: string | null = null) {
  const found = (await findings(settings, endpoint)).filter((finding) => finding.check === check)
  return found.map(
    ({ verdict, found, advice }) => `${verdict}: ${found}${advice === null ? '' : `; ${advice}`}`,
  )
}

const bad = (found: readonly Finding[]) => found.filter(({ verdict }) => verdict === 'failed')

test('an installation that is well: each check once, and nothing fails', async () => {
  const found = await findings()
  expect(bad(found)).toEqual([])
  expect(found.map(({ check }) => check)).toEqual([
    ...['settings', 'database', 'pooler', 'connections', 'role', 'migrations', 'clock', 'encryption key'],
    ...['log', 'maintenance', 'dns', 'endpoint'],
  ])
  expect(verdictOf(found)).not.toBe('failed')
  expect(found.every(({ found }) => !found.includes('\n'))).toBe(true)
})

describe('settings', () => {
  test('a variable that is none, a key that is missing, a file of authorities that is none', async () => {
    expect(await of('settings', { DESKWIRE_PROT: '80' })).toContain(
      'warning: DESKWIRE_PROT is not a setting and has no effect; the most similar setting is DESKWIRE_PORT',
    )
    expect(await of('settings', { DESKWIRE_ENCRYPTION_KEY: '' })).toEqual([
      expect.stringMatching(/^failed: DESKWIRE_ENCRYPTION_KEY: nothing is set/),
    ])
    expect(await of('settings', { DESKWIRE_TARGET_CA: join(directory.path, 'missing') })).toEqual([
      expect.stringMatching(/^failed: DESKWIRE_TARGET_CA: .* cannot be read \(ENOENT\)/),
    ])
  })
})

describe('database', () => {
  test('nothing listens there; the database does not exist; its sessions may only read', async () => {
    const nowhere = 'postgres://someone:hidden@127.0.0.1:1/desk'
    expect(await of('database', { DESKWIRE_DATABASE_URL: nowhere })).toEqual([
      expect.stringMatching(
        /^failed: the database cannot be used: connect ECONNREFUSED .*; see that its server runs/,
      ),
    ])
    const missing = socketUrl({ ...shared().database.connection, database: 'no_such_desk' })
    expect(await of('database', { DESKWIRE_DATABASE_URL: missing })).toEqual([
      expect.stringMatching(/^failed: .*"no_such_desk" does not exist; make it/),
    ])
    const reading = withOptions('default_transaction_read_only=on')
    expect(await of('database', { DESKWIRE_DATABASE_URL: reading })).toContainEqual(
      expect.stringMatching(/^failed: its sessions may only read; name the primary/),
    )
  })

  test('an encoding that cannot hold all text', async () => {
    await using other = await testDatabase({ template: null })
    const latin = `latin_${other.name}`
    await other.pool.query(
      `create database ${latin} encoding 'LATIN1' locale 'C' locale_provider libc template template0`,
    )
    try {
      const there = { DESKWIRE_DATABASE_URL: socketUrl({ ...other.connection, database: latin }) }
      expect(await of('database', there)).toContainEqual(
        expect.stringMatching(
          /^failed: the encoding of the database is LATIN1, .*; make one with create database/,
        ),
      )
    } finally {
      await other.pool.query(`drop database ${latin} with (force)`)
    }
  })

  test('a way there that leads elsewhere, and one without what it is to lead past', async () => {
    await using other = await testDatabase({ template: null })
    expect(await of('pooler')).toEqual(['ok: none: DESKWIRE_DATABASE_URL leads to PostgreSQL itself'])
    const apart = { DESKWIRE_DATABASE_URL: socketUrl(other.connection), DESKWIRE_DATABASE_DIRECT_URL: url() }
    expect(await of('pooler', apart)).toEqual([
      expect.stringMatching(/^failed: DESKWIRE_DATABASE_URL and .* lead to two databases: set both/),
    ])
    const alone = { DESKWIRE_DATABASE_URL: '', DESKWIRE_DATABASE_DIRECT_URL: url() }
    expect(await of('pooler', alone)).toEqual([
      expect.stringMatching(
        /^failed: DESKWIRE_DATABASE_DIRECT_URL: DESKWIRE_DATABASE_URL is not set; set it/,
      ),
    ])
  })

  test('commits that are acknowledged before they are on disk', async () => {
    expect(
      await of('database', { DESKWIRE_DATABASE_URL: withOptions('synchronous_commit=off') }),
    ).toContainEqual(
      expect.stringMatching(/^warning: .*synchronous_commit.* off: what was acknowledged can be lost/),
    )
  })

  test('a role that may create nothing, one that owns nothing, and one that may do everything', async () => {
    const admin = new Client({ ...shared().database.connection, user: ADMIN_ROLE })
    await admin.connect()
    const role = `poor_${shared().database.name}`
    try {
      await admin.query(`create role ${role}`)
      await admin.query(`grant ${role} to ${shared().database.connection.user}`)
      await admin.query('revoke create on schema public from public')
      const as = { DESKWIRE_DATABASE_URL: withOptions(`role=${role}`) }
      expect(await of('role', as)).toEqual([
        expect.stringMatching(/^failed: poor_\w+ may not create in the schema public; grant usage, create/),
      ])
      await admin.query(`grant create on schema public to ${role}`)
      expect(await of('role', as)).toEqual([
        expect.stringMatching(/^failed: api_key_tokens, .* belong to another role than poor_\w+; have poor_/),
      ])
    } finally {
      await admin.query(`drop owned by ${role}`)
      await admin.query(`drop role ${role}`)
      await admin.end()
    }
    const owner = socketUrl({ ...shared().database.connection, user: ADMIN_ROLE })
    expect(await of('role', { DESKWIRE_DATABASE_URL: owner })).toEqual([
      expect.stringMatching(/^warning: postgres is a superuser; give the service a role of its own/),
    ])
  })

  test('a migration that is missing, one of a later release, and one from before the first', async () => {
    const { pool } = shared().database
    const { rows } = await pool.query<{ id: string; applied_at: Date }>(
      'delete from schema_migrations where id = (select max(id) from schema_migrations) returning id, applied_at',
    )
    const [last] = rows
    try {
      expect(await of('migrations')).toEqual([
        expect.stringMatching(/^warning: 1 of \d+ are still to be applied, \S+ first; start the service/),
      ])
      await pool.query(`insert into schema_migrations (id) values ('20991231-01-later')`)
      expect(await of('migrations')).toEqual([
        expect.stringMatching(
          /^failed: the database is newer than this release: it holds 20991231-01-later;/,
        ),
      ])
      await pool.query(`update schema_migrations set id = '20261120-01-core' where id = '20991231-01-later'`)
      expect(await of('migrations')).toEqual([
        expect.stringMatching(
          /^failed: the database was made before the first release; export what it holds/,
        ),
      ])
    } finally {
      await pool.query(`delete from schema_migrations where id in ('20991231-01-later', '20261120-01-core')`)
      await pool.query('insert into schema_migrations (id, applied_at) values ($1, $2)', [
        last?.id,
        last?.applied_at,
      ])
    }
    expect(await of('migrations')).toEqual([expect.stringMatching(/^ok: all \d+ are applied$/)])
  })

  test('a database whose connections are nearly all taken', async () => {
    const { rows } = await shared().database.pool.query<{ free: number }>(
      `select current_setting('max_connections')::int - count(*)::int as free from pg_stat_activity`,
    )
    const taken = await Promise.all(
      Array.from({ length: Math.max(0, (rows[0]?.free ?? 0) - 30) }, async () => {
        const client = new Client(shared().database.connection)
        await client.connect()
        return client
      }),
    )
    try {
      expect(await of('connections')).toEqual([
        expect.stringMatching(/^warning: \d+ of \d+ are in use.*raise max_/),
      ])
    } finally {
      await Promise.all(taken.map((client) => client.end()))
    }
  })
})

test.each([
  [-3_000, /^warning: the database's is 3\.\d s ahead of this machine's; have a time service/],
  [300_000, /^failed: the database's is (299|300)\.\d s behind this machine's; have a time service/],
])('a machine whose clock is %d ms off', async (milliseconds, line) => {
  const now = Date.now.bind(Date)
  const wrong = vi.spyOn(Date, 'now').mockImplementation(() => now() + milliseconds)
  try {
    expect(await of('clock')).toEqual([expect.stringMatching(line)])
  } finally {
    wrong.mockRestore()
  }
})

test('a database whose clock was set back behind the times of its changes', async () => {
  const clock = testClock(Date.now() + 3_600_000)
  await using service = await testService({ clock })
  const api = await service.newOrganization()
  expect((await api.post('/v1/customers', { name: 'Ada' })).status).toBe(201)
  const DESKWIRE_DATABASE_URL = socketUrl(service.database.connection)
  expect(await of('clock', { DESKWIRE_DATABASE_URL })).toEqual([
    expect.stringMatching(/^ok: the database's is 0\.\d s (behind|ahead of) this machine's$/),
    expect.stringMatching(
      /^warning: changes of 2 organizations have times up to 3[56]\d\d\.\d s ahead of the database's clock, which was set back or restored; see that a time service sets it; nothing is lost: /,
    ),
  ])
})

test('the encryption key: another, none, one that is being replaced, and a secret that it does not open', async () => {
  const { database, newOrganization } = shared()
  await makeWebhook(await newOrganization())
  const key = (byte: number) => keyOf(byte).toString('base64')
  expect(await of('encryption key', { DESKWIRE_ENCRYPTION_KEY: key(8) })).toEqual([
    expect.stringMatching(
      /^failed: DESKWIRE_ENCRYPTION_KEY: what is set is not the key .*set that key again/,
    ),
  ])
  expect(await of('encryption key')).toEqual([
    expect.stringMatching(/^ok: the next start notes it as the one of this database$/),
  ])
  const both = { DESKWIRE_ENCRYPTION_KEY: key(8), DESKWIRE_ENCRYPTION_KEY_PREVIOUS: key(7) }
  const broken = rotateEncryptionKey(
    database.pool,
    { current: keyOf(8), previous: keyOf(7) },
    {
      onPiece() {
        throw new Error('killed')
      },
      rowsAPiece: 1,
    },
  )
  await expect(broken).rejects.toThrow('killed')
  expect(await of('encryption key', both)).toEqual([
    expect.stringMatching(
      /^warning: it is being replaced, .*; run deskwire encryption-key rotate to its end$/,
    ),
  ])
  expect(await of('encryption key', { DESKWIRE_ENCRYPTION_KEY: key(8) })).toEqual([
    expect.stringMatching(
      /^failed: the encryption key of this database is being replaced, .*set that one as/,
    ),
  ])
  // Back to what the service has.
  await rotateEncryptionKey(database.pool, { current: keyOf(7), previous: keyOf(8) })
  expect(await of('encryption key')).toEqual([
    expect.stringMatching(/^ok: it is the one of this database, and opens [1-9]\d* signing secrets$/),
  ])
  expect(await of('encryption key', both)).toEqual([
    expect.stringMatching(
      /^warning: a new one is set, and the database still has the one before; once every process/,
    ),
  ])
  const lost = await makeWebhook(await newOrganization())
  await database.pool.query(`update webhook_secrets set sealed = 'broken' where webhook_id = $1`, [lost.id])
  expect(await of('encryption key')).toEqual([
    expect.stringMatching(
      new RegExp(`^failed: it does not open the secrets of 1 endpoints, ${lost.id} among them`),
    ),
  ])
  await database.pool.query('delete from webhooks where id = $1', [lost.id])
})

test('a key in a file that others can read', async () => {
  await using home = await mkdtempDisposable(join(tmpdir(), 'deskwire-doctor-key-'))
  const file = join(home.path, 'encryption.key')
  await writeFile(file, `${keyOf(7).toString('base64')}\n`, { mode: 0o600 })
  const settings = { DESKWIRE_ENCRYPTION_KEY: '', DESKWIRE_DATABASE_URL: '', DESKWIRE_DATA_DIR: home.path }
  const config = readConfig({ ...well, ...settings })
  if (!config.ok) throw new Error(config.error)
  expect(await checkKeyFile(config.value)).toBeNull()
  await chmod(file, 0o640)
  expect(await checkKeyFile(config.value)).toMatchObject({
    verdict: 'warning',
    found: `${file} can be read by others than its owner`,
    advice: expect.stringContaining(`chmod 600 ${file}`),
  })
})

test('name servers that do not answer', async () => {
  expect(await of('dns')).toEqual([`ok: ${dns.address} answer`])
  expect(await of('dns', { DESKWIRE_DNS_SERVERS: '127.0.0.1:1', DESKWIRE_ANSWER_TIMEOUT: '2s' })).toEqual([
    expect.stringMatching(/^failed: .*deskwire\.invalid.*; set DESKWIRE_DNS_SERVERS/),
  ])
})

test('an endpoint that is reached, and that is not: its address, its port, its certificate, its name', async () => {
  const there = `https://127.0.0.1:${receiver.port}/hook`
  expect(await of('endpoint', {}, there)).toEqual([
    expect.stringMatching(/^ok: URL 127\.0\.0\.1:\d+: reached at 127\.0\.0\.1, TLSv1\.3$/),
  ])
  expect(await of('endpoint', { DESKWIRE_TRUSTED_TARGETS: '' }, there)).toEqual([
    expect.stringMatching(
      /^failed: .*not public \(loopback, 127\.0\.0\.0\/8\); if it is yours, add its network/,
    ),
  ])
  expect(await of('endpoint', {}, 'https://127.0.0.1:1/hook')).toEqual([
    expect.stringMatching(/^failed: .*127\.0\.0\.1:1 refused the connection; see whether its host is up/),
  ])
  expect(await of('endpoint', { DESKWIRE_TARGET_CA: '' }, there)).toEqual([
    expect.stringMatching(/^failed: .*No TLS with 127\.0\.0\.1:\d+: its certificate .*DESKWIRE_TARGET_CA/),
  ])
  expect(await of('endpoint', {}, 'https://deskwire.invalid/')).toEqual([
    expect.stringMatching(/^failed: .*deskwire\.invalid does not exist; have its owner .* full name/),
  ])
  expect(await of('endpoint', {}, 'http://127.0.0.1/')).toEqual([
    expect.stringMatching(/^failed: .*must begin with https/),
  ])
  expect(receiver.requests).toEqual([])

  const api = await shared().newOrganization()
  const { id } = await makeWebhook(api, { url: there })
  const silent = await makeWebhook(api, { url: 'https://127.0.0.1:1/hook' })
  const all = await of('endpoint')
  expect(all).toContainEqual(expect.stringContaining(`ok: ${id} 127.0.0.1:`))
  expect(all).toContainEqual(expect.stringMatching(/^warning: \S+ 127\.0\.0\.1:1: .*refused the connection/))
  expect(await of('endpoint', {}, silent.id)).toEqual([expect.stringMatching(/^failed: .*refused/)])
  expect(await of('endpoint', {}, '01980000-0000-7000-8000-000000000001')).toEqual([
    expect.stringMatching(/^failed: there is no endpoint 0198/),
  ])
})

test('a disk that is nearly full', async () => {
  const room = (free: number) => diskFinding({ free, total: 2 ** 40, directory: '/data' })
  expect([100 * 2 ** 20, 2 ** 30, 2 ** 36].map((free) => room(free).verdict)).toEqual([
    'failed',
    'warning',
    'ok',
  ])
  expect(room(2 ** 30).found).toBe('1.0 GiB of 1024.0 GiB are free where /data is')
  expect((await checkDisk(tmpdir())).found).toMatch(/^\d+\.\d GiB of \d+\.\d GiB are free where /)
})
