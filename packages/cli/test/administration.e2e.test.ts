/** Organizations and keys administered from the command line, beside a running service. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type DataDir,
  deskwire,
  npmStart,
  type Service,
  startDeskwire,
  temporaryDataDir,
  until,
} from './harness.ts'

let dataDir: DataDir
let service: Service
let settings: Record<string, string>
/** Where the first key is. */
let keyFile = ''
const tokenPattern = /dwk_[0-9A-Za-z]{36}/

beforeAll(async () => {
  dataDir = await temporaryDataDir()
  keyFile = join(dataDir.parent, 'first-key')
  settings = { DESKWIRE_DATA_DIR: dataDir.path }
  service = await npmStart({ ...settings, DESKWIRE_FIRST_KEY_FILE: keyFile })
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await dataDir[Symbol.asyncDispose]()
})

const run = (...words: string[]) => deskwire(words, { settings })

async function call(token: string, path = '/v1/customers'): Promise<{ status: number; detail: string }> {
  const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } })
  const { detail = '' } = (await response.json()) as { detail?: string }
  return { status: response.status, detail }
}

async function newOrganization(name: string): Promise<{ organizationId: string; token: string }> {
  return JSON.parse((await run('org', 'create', '--name', name, '--json')).stdout)
}

describe('--first-key-file', () => {
  test('holds the first key for its owner alone, and nothing prints it', async () => {
    expect(statSync(keyFile).mode & 0o777).toBe(0o600)
    const token = readFileSync(keyFile, 'utf8')
    expect(token).toMatch(/^dwk_[0-9A-Za-z]{36}\n$/)
    expect((await call(token.trim())).status).toBe(200)
    expect(service.output.stdout).toContain(`its API key is in ${keyFile}\n`)
    expect(service.output.stdout + service.output.stderr).not.toMatch(tokenPattern)
  })

  test('that exists is not overwritten: nothing is created, and the next start with another has its first key', async () => {
    await using fresh = await temporaryDataDir()
    const taken = join(fresh.parent, 'taken')
    writeFileSync(taken, 'mine')
    const serve = (file: string) => [
      ...['serve', '--port', '0', '--log-level', 'silent', '--data-dir', fresh.path],
      ...['--first-key-file', file],
    ]
    const refused = await deskwire(serve(taken))
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(
      /^deskwire: the first key cannot be written to DESKWIRE_FIRST_KEY_FILE: something is there already, [^\n]+\n$/,
    )
    expect(readFileSync(taken, 'utf8')).toBe('mine')
    const listed = await deskwire(['org', 'list', '--json', '--data-dir', fresh.path])
    expect(JSON.parse(listed.stdout)).toEqual({ organizations: [] })

    const free = join(fresh.parent, 'free')
    for (let start = 0; start < 2; start++) {
      // The second finds a key, and leaves the file as it is.
      await using running = startDeskwire(serve(free))
      await until('it listens', () => running.output.stdout.includes('listening on'))
      expect(running.output.stdout.includes('its API key')).toBe(start === 0)
      expect(await running.stop('SIGTERM')).toMatchObject({ code: 0 })
    }
    expect(readFileSync(free, 'utf8')).toMatch(/^dwk_/)
  })
})

test('keys are listed without their tokens, and revoked at once', async () => {
  const { organizationId, token } = await newOrganization('Keys')
  const made = await run(
    ...['keys', 'create', '--org', organizationId, '--name', 'a\tb', '--scopes', 'tickets:read', '--json'],
  )
  const reader = JSON.parse(made.stdout)
  expect((await call(reader.token, '/v1/tickets')).status).toBe(200)

  const { apiKeys } = JSON.parse((await run('keys', 'list', '--org', organizationId, '--json')).stdout)
  expect(apiKeys.map(({ name, last4 }: { name: string; last4: string }) => [name, last4])).toEqual([
    ['a\tb', reader.token.slice(-4)],
    ['First key', token.slice(-4)],
  ])
  const shown = await run('keys', 'list', '--org', organizationId)
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout.split('\n')).toMatchObject([
    expect.stringMatching(/^ID {36}TOKEN {2}LAST USED +EXPIRES {2}SCOPES +NAME$/),
    expect.stringMatching(new RegExp(`^${reader.apiKeyId}  ….{4}  .* +never +tickets:read +a\ufffdb$`)),
    expect.stringMatching(/ \* +First key$/),
    '',
  ])
  expect(shown.stdout).not.toMatch(tokenPattern)

  const revoked = await run('keys', 'revoke', reader.apiKeyId, '--org', organizationId)
  expect(revoked).toEqual({ code: 0, stdout: `key ${reader.apiKeyId} (a\ufffdb) is revoked\n`, stderr: '' })
  expect((await call(reader.token, '/v1/tickets')).status).toBe(401)
  const again = await run('keys', 'revoke', reader.apiKeyId, '--org', organizationId)
  expect(again).toMatchObject({ code: 2, stdout: '' })
  expect(again.stderr).toContain(`there is no key ${reader.apiKeyId} of an organization ${organizationId}`)
})

test('an organization is suspended, told apart from one whose key is revoked, and resumed', async () => {
  const { organizationId, token } = await newOrganization('Late payer')
  expect(await run('org', 'suspend', organizationId)).toEqual({
    code: 0,
    stdout: `organization ${organizationId} is suspended\n`,
    stderr: '',
  })
  expect(await call(token)).toMatchObject({ status: 403, detail: expect.stringContaining('is suspended') })
  const listed = await run('org', 'list')
  expect(listed.stdout).toMatch(new RegExp(`^${organizationId}  suspended  .*Late payer$`, 'm'))
  expect((await run('org', 'suspend', organizationId)).stdout).toContain('already suspended')
  expect((await run('org', 'resume', organizationId)).stdout).toBe(
    `organization ${organizationId} is active\n`,
  )
  expect((await call(token)).status).toBe(200)
})

test('an organization is deleted once its id is given twice', async () => {
  const { organizationId, token } = await newOrganization('Leaving')
  const wrong = await run('org', 'delete', organizationId, '--yes', organizationId.replace(/^./, 'f'))
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes must repeat the id') })
  const unsaid = await run('org', 'delete', organizationId)
  expect(unsaid).toMatchObject({ code: 2, stderr: expect.stringContaining(`give --yes ${organizationId}`) })
  expect((await call(token)).status).toBe(200)

  const deleted = await run('org', 'delete', organizationId, '--yes', organizationId)
  expect(deleted).toMatchObject({ code: 0, stderr: '' })
  expect(deleted.stdout).toMatch(new RegExp(`^organization ${organizationId} is deleted, with \\d+ rows\\n$`))
  expect((await call(token)).status).toBe(401)
  const { organizations } = JSON.parse((await run('org', 'list', '--json')).stdout)
  expect(organizations.map(({ name }: { name: string }) => name)).not.toContain('Leaving')
  const gone = await run('org', 'delete', organizationId, '--yes', organizationId)
  expect(gone).toMatchObject({ code: 2, stderr: `deskwire: there is no organization ${organizationId}\n` })
})
