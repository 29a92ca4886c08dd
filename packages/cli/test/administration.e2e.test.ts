/** Organizations and keys administered from the command line, beside a running service. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../testbed/eventually.ts'
import { type DataDir, temporaryDataDir } from '../../testbed/installation.ts'
import { deskwire, type ServiceProcess, serve, startDeskwire } from '../../testbed/services.ts'
import { organizationsDelete } from '../src/commands/organizations-delete.ts'
import { runHere } from './run-here.ts'

let dataDir: DataDir
let service: ServiceProcess
let settings: Record<string, string>
/** Where the first key is. */
let keyFile = ''
const tokenPattern = /dwk_[0-9A-Za-z]{36}/

beforeAll(async () => {
  dataDir = await temporaryDataDir({ installed: true })
  keyFile = join(dataDir.parent, 'first-key')
  settings = { DESKWIRE_DATA_DIR: dataDir.path }
  service = await serve(['--role', 'api'], { settings: { ...settings, DESKWIRE_FIRST_KEY_FILE: keyFile } })
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await dataDir[Symbol.asyncDispose]()
})

const run = (...words: string[]) => runHere(words, { settings })

async function call(token: string, path = '/v1/customers'): Promise<{ status: number; detail: string }> {
  const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } })
  const { detail = '' } = (await response.json()) as { detail?: string }
  return { status: response.status, detail }
}

test('--first-key-file has the first key for its owner alone, and nothing prints it', async () => {
  expect(statSync(keyFile).mode & 0o777).toBe(0o600)
  const token = readFileSync(keyFile, 'utf8')
  expect(token).toMatch(/^dwk_[0-9A-Za-z]{36}\n$/)
  expect((await call(token.trim())).status).toBe(200)
  expect(service.output.stdout).toContain(`its API key is in ${keyFile}\n`)
  expect(service.output.stdout + service.output.stderr).not.toMatch(tokenPattern)
})

test('a file that is there is not overwritten: nothing is created, and the next start with another has its first key', async () => {
  await using fresh = await temporaryDataDir({ installed: true })
  const taken = join(fresh.parent, 'taken')
  writeFileSync(taken, 'mine')
  const serve = (file: string) => [
    ...['serve', '--port', '0', '--log-level', 'silent', '--data-dir', fresh.path],
    ...['--first-key-file', file],
  ]
  const refused = await deskwire(serve(taken))
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toMatch(
    /^deskwire: the first key cannot be written to DESKWIRE_FIRST_KEY_FILE: something is there already, [^\n]+\n$/,
  )
  expect(readFileSync(taken, 'utf8')).toBe('mine')
  const free = join(fresh.parent, 'free')
  await using running = startDeskwire(serve(free))
  await eventually('it listens', () => running.output.stdout.includes('listening on'))
  expect(running.output.stdout).toContain(`its API key is in ${free}\n`)
  expect(readFileSync(free, 'utf8')).toMatch(/^dwk_/)
})

test('keys are listed without their tokens and revoked; their organization is suspended, resumed, and deleted', async () => {
  const { organizationId, token } = JSON.parse(
    (await run('organizations', 'create', '--name', 'Late payer', '--json')).stdout,
  )
  const key = ['--name', 'a\tb', '--scopes', 'tickets:read', '--json']
  const reader = JSON.parse((await run('organizations', 'create-key', organizationId, ...key)).stdout)
  expect((await call(reader.token, '/v1/tickets')).status).toBe(200)

  const shown = await run('organizations', 'list-keys', organizationId)
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout.split('\n')).toMatchObject([
    expect.stringMatching(/^ID {36}TOKEN {2}LAST USED +EXPIRES {2}SCOPES +NAME$/),
    expect.stringMatching(new RegExp(`^${reader.apiKeyId}  ….{4}  .* +never +tickets:read +a\\\\u0009b$`)),
    expect.stringMatching(/ \* +First key$/),
    '',
  ])
  expect(shown.stdout).not.toMatch(tokenPattern)
  const revoked = await run('organizations', 'revoke-key', organizationId, reader.apiKeyId)
  expect(revoked).toEqual({ code: 0, stdout: `key ${reader.apiKeyId} (a\\u0009b) is revoked\n`, stderr: '' })
  expect((await call(reader.token, '/v1/tickets')).status).toBe(401)

  const suspended = await run('organizations', 'suspend', organizationId)
  expect(suspended).toEqual({ code: 0, stdout: `organization ${organizationId} is suspended\n`, stderr: '' })
  expect(await call(token)).toMatchObject({ status: 403, detail: expect.stringContaining('is suspended') })
  const listed = await run('organizations', 'list')
  expect(listed.stdout).toMatch(new RegExp(`^${organizationId}  suspended  .*Late payer$`, 'm'))
  expect((await run('organizations', 'resume', organizationId)).stdout).toBe(
    `organization ${organizationId} is active\n`,
  )
  expect((await call(token)).status).toBe(200)

  const deleted = await run('organizations', 'delete', organizationId, '--yes', organizationId)
  expect(deleted).toMatchObject({ code: 0, stderr: '' })
  expect(deleted.stdout).toMatch(new RegExp(`^organization ${organizationId} is deleted, with \\d+ rows\\n$`))
  expect((await call(token)).status).toBe(401)
  const gone = await run('organizations', 'delete', organizationId, '--yes', organizationId)
  expect(gone).toEqual({
    code: 2,
    stdout: '',
    stderr: `deskwire: there is no organization ${organizationId}\n`,
  })
})

test('an organization is deleted only if its id is given twice', async () => {
  const id = '01980000-0000-7000-8000-000000000001'
  const other = id.replace(/1$/, '2')
  await expect(organizationsDelete.run([id, '--yes', other])).rejects.toThrow('--yes must repeat the id')
  // No terminal is there to ask on.
  await expect(organizationsDelete.run([id])).rejects.toThrow(`give --yes ${id}`)
})
