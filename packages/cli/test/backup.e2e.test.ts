/** A backup beside a running service, and the restores that follow, as a person makes them. */
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDataDir } from '../../testbed/installation.ts'
import { serve } from '../../testbed/services.ts'
import { backupCommand } from '../src/commands/backup.ts'
import { restoreCommand } from '../src/commands/restore.ts'
import { runHere } from './run-here.ts'

const key = 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22'

async function call(
  url: string,
  method = 'GET',
  body?: object,
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever the answer has; a wrong guess fails them
): Promise<{ status: number; json: any }> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, json: await response.json() }
}

test('what was backed up beside a running service comes back elsewhere, and copies are told', async () => {
  await using dataDir = await temporaryDataDir({ installed: true })
  const settings = {
    DESKWIRE_DATA_DIR: dataDir.path,
    DESKWIRE_BOOTSTRAP_KEY: key,
    DESKWIRE_TRUSTED_TARGETS: '127.0.0.0/8',
  }
  const file = join(dataDir.parent, 'one.backup')
  const first = '/v1/customers?updatedAfter=1970-01-01T00:00:00Z'
  let cursor = ''
  {
    await using service = await serve([], { settings })
    const endpoint = { url: 'https://127.0.0.1:1/', events: ['customer.created'] }
    expect((await call(`${service.url}/v1/webhooks`, 'POST', endpoint)).status).toBe(201)
    await call(`${service.url}/v1/customers`, 'POST', { name: 'Kept' })

    const made = await runHere(['backup', 'create', file], { settings })
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(made.stdout).toMatch(/^\d+ rows of 1 organizations as of \S+Z in \S+one\.backup, \d+ bytes\n/)
    expect(made.stdout).toContain(`The encryption key is not in it. Without ${dataDir.path}/encryption.key`)
    const again = await runHere(['backup', 'create', file], { settings })
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('is there already') })
    const checked = await runHere(['backup', 'restore', file, '--check'])
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringMatching(/is whole: a backup of \S+Z\n$/) })

    await call(`${service.url}/v1/customers`, 'POST', { name: 'Lost' })
    cursor = (await call(service.url + first)).json.pagination.nextCursor
    const busy = await runHere(['backup', 'restore', file, '--replace'], { settings })
    expect(busy).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/in use by process \d+.*stop it first/),
    })
  }

  const elsewhere = { DESKWIRE_DATA_DIR: join(dataDir.parent, 'elsewhere') }
  const keyless = await runHere(['backup', 'restore', file], { settings: elsewhere })
  expect(keyless.code).toBe(1)
  expect(keyless.stderr).toMatch(/there is no key: put its encryption\.key into the data directory/)
  await copyFile(join(dataDir.path, 'encryption.key'), join(elsewhere.DESKWIRE_DATA_DIR, 'encryption.key'))
  const restored = await runHere(['backup', 'restore', file], { settings: elsewhere })
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  expect(restored.stdout).toMatch(/^\d+ rows of 1 organizations are back as of \S+Z; epoch \d+ begins/)
  const taken = await runHere(['backup', 'restore', file], { settings: elsewhere })
  expect(taken).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('give --replace to move that aside'),
  })

  {
    await using service = await serve([], { settings: { ...settings, ...elsewhere } })
    const page = await call(service.url + first)
    expect(page.json.data.map(({ name }: { name: string }) => name)).toEqual(['Kept'])
    expect(await call(`${service.url}/v1/customers?cursor=${cursor}`)).toMatchObject({
      status: 410,
      json: { code: 'cursor_too_old' },
    })
    cursor = page.json.pagination.nextCursor
    expect((await call(`${service.url}/v1/customers?cursor=${cursor}`)).status).toBe(200)
  }
  // A copied directory, or any restore by other tools.
  const told = await runHere(['backup', 'mark-restored', '--json'], { settings: elsewhere })
  expect(JSON.parse(told.stdout)).toEqual({ epoch: expect.any(Number), organizations: 1 })
  await using service = await serve([], { settings: { ...settings, ...elsewhere } })
  expect((await call(`${service.url}/v1/customers?cursor=${cursor}`)).status).toBe(410)
})

test('mistakes are named before anything happens', async () => {
  await using dataDir = await temporaryDataDir()
  const settings = { DESKWIRE_DATA_DIR: dataDir.path }
  const file = join(dataDir.parent, 'no.backup')
  await writeFile(file, 'no backup')
  const said = async (...words: string[]) => {
    const { code, stdout, stderr } = await runHere(words, { settings })
    return { code, stdout, stderr }
  }
  const refused = (code: number, reason: string) => ({
    code,
    stdout: '',
    stderr: expect.stringContaining(reason),
  })
  await expect(backupCommand.run([])).rejects.toThrow('backup needs the name of a file')
  await expect(restoreCommand.run([])).rejects.toThrow('restore needs the name of a file')
  await expect(restoreCommand.run([file, '--force'])).rejects.toThrow('--replace')
  await expect(restoreCommand.run([file, '--replace', '--database-url', 'postgres://x/y'])).rejects.toThrow(
    '--replace moves an embedded database aside',
  )
  expect(await said('backup', 'restore', file)).toEqual(refused(1, 'is not a backup of Deskwire'))
  expect(await said('backup', 'restore', join(dataDir.parent, 'nothing'))).toEqual(
    refused(1, 'cannot be read'),
  )
  expect(await said('backup', 'restore', dataDir.parent)).toEqual(refused(1, 'is not a file'))
  expect(await said('backup', 'create', join(dataDir.parent, 'one'))).toEqual(
    refused(1, 'there is no database in'),
  )
  expect(await dataDir.running()).toEqual([])
})
