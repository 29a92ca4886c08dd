/** `deskwire import` of files as they are in the world: nothing is rounded, doubled or dropped without a word. */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { forward, startHttpServer } from '../../../testbed/loopback.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { runHere } from '../run-here.ts'
import { fileOf } from './files.ts'

const shared = sharedService()

async function desk() {
  const api = await shared().newOrganization()
  const at = ['--url', `${shared().url}/v1`, '--key', api.token]
  const customers = async () => (await api.get('/v1/customers?limit=100')).json.data
  return { api, customers, take: (...words: string[]) => runHere(['import', ...words, ...at]) }
}

const lines = (...rows: readonly (string | object)[]) =>
  fileOf(rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''), 'a.ndjson')

test('values that JSON would lose are rejected by a rehearsal and a run alike, and what is there stays', async () => {
  const { api, customers, take } = await desk()
  const seats = { externalId: 'a', name: 'Ada', customAttributes: { seats: 7 } }
  await api.post('/v1/customers', seats)
  const path = lines(
    ...['1e400', '1e-400', '-1e400', '9007199254740993'].map(
      (number) => `{"externalId":"a","customAttributes":{"seats":${number}}}`,
    ),
    '{"externalId":"a","customAttributes":{"seats":7,"seats":null}}',
    '{"externalId":"a","name":"Eve","n\\u0061me":"Ada"}',
  )
  const options = ['--duplicates', 'last']
  const [rehearsed, ran] = [await take(path, '--dry-run', ...options), await take(path, ...options)]
  expect([rehearsed.code, ran.code, ran.stderr]).toEqual([3, 3, rehearsed.stderr])
  const told = ['1e400 would become Infinity', '1e-400 would become 0', '-1e400 would become -Infinity']
  expect(ran.stderr.trimEnd().split('\n')).toEqual([
    ...[...told, '9007199254740993 would become 9007199254740992'].map((end, n) =>
      expect.stringMatching(RegExp(`^line ${n + 1}: customAttributes\\.seats: must be a number .*: ${end}$`)),
    ),
    'line 5: customAttributes.seats: has its name twice in one object',
    'line 6: name: has its name twice in one object',
  ])
  expect(await customers()).toMatchObject([seats])
})

test('each line of JSON is found by its externalId if it has one, whatever its text looks like', async () => {
  const { customers, take } = await desk()
  const path = lines(
    { name: 'externalId', customAttributes: { externalId: 'x', '"externalId"': true } },
    { name: 'No id', externalId: null },
    '{"name":"Ada","externa\\u006cId":"a"}',
    { name: 'Grace', externalId: 'g' },
  )
  const foundBy = '2 rows found by externalId; 2 rows without one, to be created\n'
  expect(await take(path, '--dry-run')).toMatchObject({
    code: 0,
    stdout: `4 rows checked, 0 would be rejected\n${foundBy}`,
  })
  expect((await take(path)).stdout).toMatch(RegExp(`^4 rows in .* s: 4 created\n${foundBy}$`))
  const again = lines({ externalId: 'a', name: 'Ada Lovelace' }, { externalId: 'g', name: 'Grace' })
  expect(JSON.parse((await take(again, '--json')).stdout)).toMatchObject({
    operation: 'upsert',
    matched: 2,
    updated: 1,
    unchanged: 1,
  })
  expect((await customers()).map(({ name }: { name: string }) => name).sort()).toEqual([
    'Ada Lovelace',
    'Grace',
    'No id',
    'externalId',
  ])
})

test('an externalId that is none is rejected by a rehearsal and a run in the same words', async () => {
  const { take } = await desk()
  const path = lines(...[5, '', ['a'], 'x'.repeat(256)].map((externalId) => ({ name: 'Ada', externalId })))
  const [rehearsed, ran] = [await take(path, '--dry-run'), await take(path)]
  expect([rehearsed.code, ran.code, ran.stderr]).toEqual([3, 3, rehearsed.stderr])
  expect(ran.stderr.match(/^line \d: externalId: must be a string of 1 to 255 characters/gm)).toHaveLength(4)
})

test('messages with an externalId are created, and without a past never doubled', async () => {
  const { api, take } = await desk()
  const customer = (await api.post('/v1/customers', { name: 'Ada' })).json
  const conversation = (await api.post('/v1/conversations', { customerId: customer.id, channel: 'chat' }))
    .json
  const message = {
    conversationId: conversation.id,
    direction: 'inbound',
    author: { type: 'customer' },
    body: 'Hi',
  }
  const first = await take(lines({ ...message, externalId: 'm' }), '--kind', 'messages')
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('1 created') })
  const second = await take(lines({ ...message, externalId: 'm', body: 'Ho' }), '--kind', 'messages')
  expect(second).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/^line 1: Another message has this externalId/),
  })
})

test('a repeated import says that it created nothing, and --again creates', async () => {
  const { api, customers, take } = await desk()
  const path = fileOf('name,company\nAda,Analytical\nGrace,Navy\n')
  expect((await take(path)).stdout).toMatch(/^2 rows in .* s: 2 created\n$/)
  for (const { id } of await customers()) await api.delete(`/v1/customers/${id}`)
  const repeated = await take(path)
  expect(repeated).toMatchObject({ code: 0, stderr: '' })
  expect(repeated.stdout).toMatch(
    /^2 rows in .* s: 2 replayed\nReplayed: .* 2 rows .*: --again creates all anew\.\n$/,
  )
  expect(await customers()).toEqual([])
  const again = await take(path, '--again', '--json')
  expect(JSON.parse(again.stdout)).toMatchObject({ created: 2, replayed: 0 })
  expect(await customers()).toHaveLength(2)
  // Other options are another import.
  const without = await take(path, '--ignore', 'company', '--json')
  expect([without.code, JSON.parse(without.stdout)]).toMatchObject([0, { created: 2, replayed: 0 }])
  const withId = fileOf('externalId,name\na,Ada\n')
  expect(await take(withId, '--again')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the file has none'),
  })
})

test('after a customer of a file was erased, an import of it goes on', async () => {
  const { api, customers, take } = await desk()
  const path = fileOf('name\nAda\nGrace\nEdsger\n')
  await take(path)
  for (const { id } of await customers()) {
    expect((await api.post(`/v1/customers/${id}/erase`, {})).status).toBe(200)
    expect(JSON.parse((await take(path, '--json')).stdout)).toMatchObject({
      created: 0,
      replayed: 3,
      rejected: 0,
    })
  }
  const elsewhere = await runHere(['import', path, '--url', `${shared().url}/v9`, '--key', api.token])
  expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringMatching(/^deskwire: 404 not_found/) })
})

test('an import that lost an answer goes on after the erase of a customer in it', async () => {
  const { api, customers } = await desk()
  let isLost = true
  await using between = await startHttpServer(async (request, response) => {
    const { status, type, text } = await forward(request, shared().url)
    const problem = { type: 't', title: 't', status: 409, code: 'lost', detail: 'Lost.' }
    if (isLost) response.writeHead(409, { 'content-type': type }).end(JSON.stringify(problem))
    else response.writeHead(status, { 'content-type': type }).end(text)
  })
  for (const [text, counts, left] of [
    ['externalId,name\na,Ada\nb,Bob\n', { created: 1, unchanged: 1 }, 2],
    ['name\nEve\nMallory\n', { created: 2, replayed: 0 }, 3],
  ] as const) {
    const words = ['import', fileOf(text), '--json', '--url', between.url, '--key', api.token]
    isLost = true
    expect(await runHere(words)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^deskwire: 0 of 2 rows done; run/),
    })
    // The stored response is about the first.
    const first = (await customers()).find(
      ({ name }: { name: string }) => text.includes(`${name}\n`) && /Ada|Eve/.test(name),
    )
    expect((await api.post(`/v1/customers/${first.id}/erase`, {})).status).toBe(200)
    isLost = false
    expect(JSON.parse((await runHere(words)).stdout)).toMatchObject({ rows: 2, rejected: 0, ...counts })
    expect(await customers()).toHaveLength(left)
  }
})

test('a line that makes the service refuse a whole batch is rejected alone', async () => {
  const { api, customers, take } = await desk()
  const deep = `{"name":"Deep","customAttributes":${'{"a":'.repeat(70)}1${'}'.repeat(71)}`
  const rows = Array.from({ length: 60 }, (_, n) => (n === 17 ? deep : { name: `n${n}`, tags: ['t'] }))
  const path = lines(...rows)
  const ran = await take(path)
  expect(ran).toMatchObject({ code: 3, stderr: expect.stringMatching(/^line 18: The body nests .*\n$/) })
  expect(await customers()).toHaveLength(59)
  expect(JSON.parse((await take(path, '--json')).stdout)).toMatchObject({
    created: 0,
    replayed: 59,
    rejected: 1,
  })
  await using small = await startHttpServer(async (request, response) => {
    if (Number(request.headers['content-length']) > 1_000) return void response.writeHead(413).end('<html>')
    const { status, type, text } = await forward(request, shared().url)
    response.writeHead(status, { 'content-type': type }).end(text)
  })
  const behind = await runHere([
    'import',
    lines(...rows),
    '--json',
    '--again',
    '--url',
    small.url,
    '--key',
    api.token,
  ])
  expect(JSON.parse(behind.stdout)).toMatchObject({ created: 59, rejected: 1 })
})

test('a spreadsheet’s sep= line is understood, and an id that it shortened is warned of', async () => {
  const { customers, take } = await desk()
  const text = '\ufeffsep=;\r\nexternalId;name;email\r\n1,23457E+12;Ada;\r\n4E+5;Grace;nope\r\n12e5;Eve;\r\n'
  const path = fileOf(text)
  const warning =
    'warning: line 3 has the externalId "1,23457E+12" and 1 more like it: a spreadsheet has shortened a number. Format the column as text, and export the file again\n'
  const [rehearsed, ran] = [await take(path, '--dry-run'), await take(path)]
  for (const { code, stderr } of [rehearsed, ran])
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^.*\nline 4: email: must be/)])
  expect([rehearsed.stderr.startsWith(warning), ran.stderr.startsWith(warning)]).toEqual([true, true])
  const rejects = path.replace('.csv', '.rejects.csv')
  writeFileSync(rejects, readFileSync(rejects, 'utf8').replace('nope', 'grace@example.com'))
  expect(await take(rejects)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 created') })
  expect((await customers()).map(({ name }: { name: string }) => name).sort()).toEqual([
    'Ada',
    'Eve',
    'Grace',
  ])
  const commas = await take(fileOf('sep=,\nname,company\nAlan,Bletchley\n'))
  expect(commas).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('1 created') })
})
