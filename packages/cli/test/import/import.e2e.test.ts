/** `deskwire import` and `deskwire export` at a real service, as whole processes: what is interrupted goes on. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type Customer, createClient } from '@deskwire/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import { type DataDir, temporaryDataDir } from '../../../testbed/installation.ts'
import { type ServiceProcess, serve, startDeskwire } from '../../../testbed/services.ts'
import { runHere } from '../run-here.ts'
import { startBetween } from './between.ts'
import { fileOf } from './files.ts'

const key = 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22'
let dataDir: DataDir
let service: ServiceProcess

beforeAll(async () => {
  dataDir = await temporaryDataDir({ installed: true })
  service = await serve(['--role', 'api'], {
    settings: { DESKWIRE_DATA_DIR: dataDir.path, DESKWIRE_BOOTSTRAP_KEY: key },
  })
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await dataDir[Symbol.asyncDispose]()
})

const at = (url = service.url) => ['--url', url, '--key', key]
const client = () => createClient({ baseUrl: `${service.url}/v1`, apiKey: key })

/** The customers whose company is this one, by name; each more than once when it is there more than once. */
async function customersOf(company: string): Promise<Customer[]> {
  const found: Customer[] = []
  for await (const change of client().customers.export()) {
    if (change.type === 'upsert' && change.row.company === company) found.push(change.row)
  }
  return found
}

/** A file of customers of one company, named 1, 2, 3 … */
function manyOf(company: string, rows: number, externalIds = false): string {
  const header = externalIds ? 'name,company,externalId' : 'name,company'
  const lines = Array.from(
    { length: rows },
    (_, n) => `${n + 1},${company}${externalIds ? `,${company}-${n + 1}` : ''}`,
  )
  return fileOf([header, ...lines, ''].join('\n'))
}

test('every line becomes a row or is rejected with all its faults; corrected, the rejects are a file to import', async () => {
  const path = fileOf(
    '\ufeffexternalId,name,company,email,tags,customAttributes.plan,customAttributes.seats:number\r\n' +
      'm-1,"Ada ""the"" Countess\r\nLovelace",Mixed,Ada@example.com,vip;eu,gold,3\r\n' +
      '\r\n' +
      'm-2,Grace,Mixed,nope,,,many\r\n' +
      'm-3,Edsger\r\n' +
      'm-1,Ada,Mixed,,,silver,\r\n' +
      ',Nobody,Mixed,,,,\r\n' +
      'm-4,Alan,Mixed,,,,9007199254740993\r\n',
  )
  const rejects = path.replace('.csv', '.rejects.csv')

  const options = ['--duplicates', 'last']
  const rehearsed = await runHere(['import', path, '--dry-run', ...options])
  const told = [
    /^line 5: customAttributes\.seats: must be a number .*; got "many"; email: must be an email address .*$/m,
    /^line 6: it has 2 values where the header has 7$/m,
    /^line 8: externalId: /m,
    /^line 9: customAttributes\.seats: .* 9007199254740993 would become 9007199254740992$/m,
  ]
  expect(rehearsed).toMatchObject({ code: 3, stdout: '6 rows checked, 4 would be rejected\n' })
  expect(await customersOf('Mixed')).toEqual([])
  expect(existsSync(rejects)).toBe(false)

  const ran = await runHere(['import', path, ...options, ...at()])
  expect(ran.code).toBe(3)
  expect(ran.stdout).toMatch(
    /^6 rows in \d+\.\d s: 1 created, 1 updated, 4 rejected\nThe rejected lines are in /,
  )
  for (const { stderr } of [rehearsed, ran]) {
    expect(stderr.trimEnd().split('\n')).toHaveLength(4)
    for (const line of told) expect(stderr).toMatch(line)
  }
  expect(existsSync(`${path}.progress.json`)).toBe(false)
  expect(await customersOf('Mixed')).toMatchObject([
    {
      name: 'Ada',
      email: 'ada@example.com',
      tags: ['vip', 'eu'],
      customAttributes: { plan: 'silver', seats: 3 },
    },
  ])

  const lines = readFileSync(rejects, 'utf8').split('\n')
  expect(lines[0]).toMatch(/^externalId,.*,customAttributes\.seats:number,error$/)
  expect(lines[2]).toBe('m-3,Edsger,,,,,,it has 2 values where the header has 7')
  writeFileSync(rejects, [lines[0], 'm-2,Grace,Mixed,grace@example.com,,,7,', lines[2], ''].join('\n'))
  const corrected = await runHere(['import', rejects, '--json', ...at()])
  expect(JSON.parse(corrected.stdout)).toEqual({
    file: rejects,
    kind: 'customers',
    operation: 'upsert',
    matched: 2,
    rows: 2,
    created: 2,
    updated: 0,
    unchanged: 0,
    replayed: 0,
    rejected: 0,
    rejects: null,
    resumedAt: 0,
    seconds: expect.any(Number),
  })
  expect(corrected).toMatchObject({ code: 0, stderr: '' })
})

test('killed while batches are under way, it goes on and imports nothing twice', async () => {
  const path = manyOf('Killed', 3_500)
  // The third batch is committed, and nobody hears of it.
  let open = false
  await using between = await startBetween(service.url, (call) => (call < 2 || open ? 'pass' : 'swallow'))
  const killed = startDeskwire(['import', path, ...at(between.url)])
  await eventually('the third batch is in', async () => (await customersOf('Killed')).length >= 3_000)
  await eventually('two are written down', () =>
    /"batches":2/.test(readFileSync(`${path}.progress.json`, 'utf8')),
  )
  expect((await killed.end('SIGKILL')).code).toBeNull()

  const elsewhere = await runHere(['import', path, ...at()])
  expect(elsewhere).toMatchObject({ code: 1, stdout: '' })
  expect(elsewhere.stderr).toMatch(
    /progress\.json is not of this import \(it went to another --url, or with another/,
  )

  open = true
  const ran = await runHere(['import', path, '--json', ...at(between.url)])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  const again = JSON.parse(ran.stdout)
  expect(again).toMatchObject({ rows: 3_500, created: 3_500, rejected: 0, resumedAt: 2_000 })
  const names = (await customersOf('Killed')).map(({ name }) => Number(name))
  expect(names.sort((a, b) => a - b)).toEqual(Array.from({ length: 3_500 }, (_, n) => n + 1))
})

test('Ctrl-C ends it with 130, and says how to go on', async () => {
  const path = manyOf('Interrupted', 2_500, true)
  let open = false
  await using between = await startBetween(service.url, (call) => (call < 1 || open ? 'pass' : 'swallow'))
  const running = startDeskwire(['import', path, ...at(between.url)])
  const file = `${path}.progress.json`
  await eventually(
    'one batch is done',
    () => existsSync(file) && /"batches":1/.test(readFileSync(file, 'utf8')),
  )
  expect(await running.end('SIGINT')).toEqual({
    code: 130,
    stdout: '',
    stderr: 'deskwire: interrupted: 1,000 of 2,500 rows done; run the same command again to go on\n',
  })
  open = true
  const again = await runHere(['import', path, '--json', ...at(between.url)])
  expect(JSON.parse(again.stdout)).toMatchObject({
    rows: 2_500,
    created: 2_500,
    resumedAt: 1_000,
    rejected: 0,
  })
  expect(await customersOf('Interrupted')).toHaveLength(2_500)
})

test('a service that asks to wait is waited for, and one that is gone leaves a place to go on from', async () => {
  const path = manyOf('Patient', 1_200)
  const fates = [{ status: 429 }, { status: 503 }, { status: 429, retryAfter: '1' }] as const
  await using between = await startBetween(service.url, (call) => fates[call] ?? 'pass')
  expect(await runHere(['import', path, '--json', ...at(between.url)])).toMatchObject({
    code: 0,
    stderr: '',
  })
  expect(await customersOf('Patient')).toHaveLength(1_200)

  const wrong = manyOf('Wrong', 1)
  const refused = await runHere(['import', wrong, '--url', service.url, '--key', 'dwk_x'])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toMatch(/^deskwire: 401 unauthorized: [^\n]+\n$/)
  expect(existsSync(`${wrong}.progress.json`)).toBe(false)

  await using broken = await startBetween(service.url, (call) => (call === 0 ? 'pass' : { status: 500 }))
  const more = manyOf('Broken', 1_200)
  const stopped = await runHere(['import', more, ...at(broken.url)])
  expect(stopped).toMatchObject({ code: 1, stdout: '' })
  expect(stopped.stderr).toMatch(/^deskwire: 1,000 of 1,200 rows done; run the same command again to go on\n/)

  // After a day the service has forgotten the keys: creations that may have been made are not made again.
  const progress = JSON.parse(readFileSync(`${more}.progress.json`, 'utf8'))
  writeFileSync(`${more}.progress.json`, JSON.stringify({ ...progress, at: Date.now() - 23.1 * 3_600_000 }))
  const late = await runHere(['import', more, ...at(broken.url)])
  expect(late).toMatchObject({ code: 1, stdout: '' })
  expect(late.stderr).toMatch(/this import stopped after 1,000 rows more than 23 hours ago/)
})

test('a value that only one row may have names the line, or the row, that has it', async () => {
  const path = fileOf(
    'name,company,email\nAda,Same,same@example.com\nGrace,Same,x@example.com\nEdsger,Same,Same@example.com\n',
  )
  const first = await runHere(['import', path, ...at()])
  expect(first).toMatchObject({ code: 3, stderr: 'line 4: line 2 has the same unique value\n' })
  const other = await runHere(['import', fileOf('name,email\nAlan,same@example.com\n'), ...at()])
  expect(other).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/^line 2: Another customer has this email/),
  })
})

test('other kinds are imported and exported too', async () => {
  const path = fileOf('name;active\nGrace;true\nAlan;false\n', 'people.csv')
  const ran = await runHere(['import', path, '--kind', 'teammates', '--delimiter', ';', ...at()])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  const out = `${path}.ndjson`
  const exported = await runHere(['export', 'teammates', '--out', out, '--json', ...at()])
  expect(exported).toMatchObject({ code: 0, stderr: '' })
  const { cursor, checkpoint } = JSON.parse(exported.stdout)
  const lines = readFileSync(out, 'utf8').trimEnd().split('\n')
  const rows = lines.slice(0, -1).map((line) => JSON.parse(line))
  // Rows of one commit are in the order of their ids.
  expect(rows.map(({ name, active }) => [name, active]).sort()).toEqual([
    ['Alan', false],
    ['Grace', true],
  ])
  expect(JSON.parse(lines.at(-1) as string)).toEqual({ object: 'export_end', nextCursor: cursor, checkpoint })
  expect(checkpoint.count).toBe(2)
  // The bytes of GET, and the cursor goes on from there.
  const printed = await runHere(['export', 'teammates', ...at()])
  expect(printed).toEqual({ code: 0, stdout: readFileSync(out, 'utf8'), stderr: '' })
  for await (const page of client().teammates.sync({ cursor })) expect(page.changes).toEqual([])
})

test('an export that breaks off leaves no file', async () => {
  const out = fileOf('', 'old.ndjson').replace('old', 'new')
  await using between = await startBetween(service.url, () => ({ status: 500 }))
  const failed = await runHere(['export', 'customers', '--out', out, ...at(between.url)])
  expect(failed).toMatchObject({ code: 1, stdout: '' })
  expect([existsSync(out), existsSync(`${out}.part`)]).toEqual([false, false])
  const nowhere = await runHere(['export', 'customers', '--out', '/no/such/directory/a', ...at()])
  expect(nowhere.stderr).toMatch(/^deskwire: \/no\/such\/directory\/a cannot be written: ENOENT/)
})
