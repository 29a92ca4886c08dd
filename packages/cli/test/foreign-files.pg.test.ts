/** No command overwrites or deletes a file that Deskwire did not make, or that its user may have changed since. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { backUp, systemClock } from '@deskwire/service/administration'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { duckDb } from '../../mirror/test/duckdb.ts'
import { sharedService } from '../../testbed/shared-service.ts'
import type { Command } from '../src/command.ts'
import { backupCommand } from '../src/commands/backup.ts'
import { exportCommand } from '../src/commands/export.ts'
import { importCommand } from '../src/commands/import.ts'
import { importZendesk } from '../src/commands/import-account.ts'
import { listenCommand } from '../src/commands/listen.ts'
import { migrateCommand } from '../src/commands/migrate.ts'
import { mirrorCommand } from '../src/commands/mirror.ts'
import { restoreCommand } from '../src/commands/restore.ts'

const shared = sharedService()
beforeEach(() => {
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockReturnValue(true)
})
afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = 0
})

/** A directory of its own, closed to others as a data directory is, with these files. */
function directoryWith(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'deskwire-foreign-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    if (name.endsWith('/')) continue
    writeFileSync(join(directory, name), text)
  }
  return directory
}

/** What is there: texts of files, targets of links. */
function contents(directory: string): Record<string, string> {
  const found = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return Object.fromEntries(
    found.flatMap((name) => {
      const path = join(directory, name)
      if (lstatSync(path).isSymbolicLink()) return [[name, `-> ${readlinkSync(path)}`]]
      return statSync(path).isDirectory() ? [] : [[name, readFileSync(path, 'utf8')]]
    }),
  )
}

async function at(): Promise<string[]> {
  const { token } = await shared().newOrganization()
  return ['--url', shared().url, '--key', token]
}

const mine = 'somebody’s own'
const exported = '{"object":"customer"}\n{"object":"export_end","nextCursor":"c","checkpoint":{}}\n'
const isThere = /is there already, and is no export: give --out another name, or move it away$/
const atDatabase = () => {
  const { host, port, user, database } = shared().database.connection
  return ['--database-url', `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`]
}

interface Attempt {
  readonly command: Command
  readonly files: Readonly<Record<string, string>>
  readonly words: (path: (name: string) => string) => string[] | Promise<string[]>
  readonly refusal: RegExp
}

const attempts: Record<string, Attempt> = {
  'export onto another file': {
    command: exportCommand,
    files: { a: mine },
    words: async (path) => ['customers', '--out', path('a'), ...(await at())],
    refusal: isThere,
  },
  'export onto a directory': {
    command: exportCommand,
    files: { 'a/b': mine },
    words: async (path) => ['customers', '--out', path('a'), ...(await at())],
    refusal: isThere,
  },
  'export onto a link': {
    command: exportCommand,
    files: { a: exported },
    words: async (path) => {
      symlinkSync(path('a'), path('link'))
      return ['customers', '--out', path('link'), ...(await at())]
    },
    refusal: isThere,
  },
  'backup onto a file': {
    command: backupCommand,
    files: { a: mine },
    words: (path) => [path('a'), ...atDatabase()],
    refusal: /is there already: name a new file/,
  },
  'import beside another file with the name of its progress': {
    command: importCommand,
    files: { 'a.csv': 'name\nAda\n', 'a.csv.progress.json': mine },
    words: async (path) => [path('a.csv'), ...(await at())],
    refusal: /progress\.json is not of this import \(it cannot be read\)/,
  },
  'import of an account beside another file with the name of its progress': {
    command: importZendesk,
    files: { 'a.json': '{"users":[{"id":1,"role":"end-user"}]}', 'zendesk.progress.json': mine },
    words: async (path) => [path('a.json'), ...(await at())],
    refusal: /zendesk\.progress\.json is not of this import \(it cannot be read\)/,
  },
  'listen beside another certificate': {
    command: listenCommand,
    files: { 'ca.pem': mine },
    words: (path) => ['--ca', '--dir', path('.')],
    refusal:
      /ca\.pem is not a certificate of deskwire listen: move it away, or give --dir another directory$/,
  },
  'listen beside another authority': {
    command: listenCommand,
    files: { 'authority.pem': mine },
    words: (path) => ['--ca', '--dir', path('.')],
    refusal: /authority\.pem does not hold a certificate authority/,
  },
  'migrate in a directory with another PostgreSQL': {
    command: migrateCommand,
    files: { 'postgres/PG_VERSION': '18\n', 'postgres/postgresql.conf': mine },
    words: (path) => ['--data-dir', path('.')],
    refusal:
      /postgres was not made by Deskwire, as there is no .*hold\.lock: give DESKWIRE_DATA_DIR a directory/,
  },
  'migrate in a directory with another log': {
    command: migrateCommand,
    files: { 'postgres-start.log': mine },
    words: (path) => ['--data-dir', path('.')],
    refusal: /postgres-start\.log was not made by Deskwire/,
  },
  'restore where its database is to be made': {
    command: restoreCommand,
    files: { 'restore/notes': mine },
    words: async (path) => {
      await backUp(shared().database.pool, systemClock, path('restore/a.backup'))
      return [path('restore/a.backup'), '--without-key', '--data-dir', path('.')]
    },
    refusal: /restore holds other files, and a restore makes its database there: move it away$/,
  },
  'mirror to another file': {
    command: mirrorCommand,
    files: { 'a.db': mine },
    words: async (path) => ['--to', path('a.db'), '--once', ...(await at())],
    refusal: /a\.db is there, is of no copy, and was not changed\./,
  },
  'mirror beside another journal': {
    command: mirrorCommand,
    files: { 'a.db-journal': mine },
    words: async (path) => ['--to', path('a.db'), '--once', ...(await at())],
    refusal: /a\.db-journal is there, is of no copy/,
  },
  ...(duckDb && {
    'mirror to another file by DuckDB': {
      command: mirrorCommand,
      files: { 'a.duckdb': mine },
      words: async (path) => ['--to', path('a.duckdb'), '--once', ...(await at())],
      refusal: /a\.duckdb is there, is of no copy/,
    } satisfies Attempt,
    'mirror beside another log by DuckDB': {
      command: mirrorCommand,
      files: { 'a.duckdb.wal': mine },
      words: async (path) => ['--to', path('a.duckdb'), '--once', ...(await at())],
      refusal: /a\.duckdb\.wal is there, is of no copy/,
    } satisfies Attempt,
  }),
  'mirror exports among other files': {
    command: mirrorCommand,
    files: { 'customers.ndjson': mine },
    words: async (path) => ['--to', `ndjson:${path('.')}`, ...(await at())],
    refusal: /customers\.ndjson is not of an export, and nothing was changed\./,
  },
}

test.each(Object.entries(attempts))('%s is refused, and leaves it as it is', async (_, attempt) => {
  const { command, files, words, refusal } = attempt
  const directory = directoryWith(files)
  const given = await words((name) => join(directory, name))
  const before = contents(directory)
  await expect(command.run(given)).rejects.toThrow(refusal)
  expect(contents(directory)).toMatchObject(before)
})

test('an export replaces an earlier one, as its user shared it, and leaves its neighbours alone', async () => {
  const directory = directoryWith({ a: exported, 'a.part': mine })
  const path = join(directory, 'a')
  chmodSync(path, 0o640)
  await exportCommand.run(['customers', '--out', path, ...(await at())])
  const after = contents(directory)
  expect(Object.keys(after).sort()).toEqual(['a', 'a.part'])
  expect([after['a.part'], statSync(path).mode & 0o777]).toEqual([mine, 0o640])
  expect(after.a).toMatch(/^\{"object":"export_end","nextCursor":"[^"]{9,}/)
})

test('an import keeps the rejects of an earlier one, and other files beside it', async () => {
  const others = { 'a.rejects.csv': 'corrected', 'a.csv.progress.json.new': mine, 'a.rejects-2.csv': mine }
  const directory = directoryWith({ 'a.csv': 'email\nnope\n', ...others })
  const path = join(directory, 'a.csv')
  await importCommand.run([path, ...(await at())])
  expect(process.exitCode).toBe(3)
  expect(contents(directory)).toEqual({
    'a.csv': 'email\nnope\n',
    ...others,
    'a.rejects-3.csv': expect.stringMatching(/^email,error\nnope,email: must be/),
  })
})

test('listen replaces the certificate of a former authority', async () => {
  const directory = directoryWith({})
  const listen = () => listenCommand.run(['--ca', '--dir', directory])
  await listen()
  const former = contents(directory)
  rmSync(join(directory, 'authority.pem'))
  await listen()
  const { 'ca.pem': ca, 'authority.pem': authority } = contents(directory)
  expect(ca).not.toBe(former['ca.pem'])
  expect(authority).toContain(ca)
})
