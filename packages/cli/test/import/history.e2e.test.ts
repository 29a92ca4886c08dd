/** `deskwire import --history`: rows with their past, found by the ids of the desk they come from, as CSV and as lines of JSON. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'
import { runHere } from '../run-here.ts'
import { fileOf } from './files.ts'

const shared = sharedService()

async function desk() {
  const api = await shared().newOrganization()
  const at = ['--url', `${shared().url}/v1`, '--key', api.token ?? '']
  const take = async (path: string, kind: string) => {
    const { code, stdout, stderr } = await runHere([
      'import',
      path,
      '--kind',
      kind,
      '--history',
      '--json',
      ...at,
    ])
    return { code, stderr, ...(JSON.parse(stdout || '{}') as Record<string, unknown>) }
  }
  return { api, at, take }
}

const customers = `externalId,name,createdAt
u-1,Ada Lovelace,2019-03-01T08:00:00Z
u-2,Grace Hopper,2019-03-02T08:00:00Z
`
const tickets = `externalId,customerExternalId,subject,status,number,createdAt,resolvedAt
t-1,u-1,The engine halts,resolved,4711,2019-03-01T09:00:00Z,2019-03-04T09:00:00Z
t-2,u-2,A moth,open,4712,2019-03-02T09:00:00Z,
`
const lines = (rows: readonly object[]) => `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`
const conversations = lines([
  {
    externalId: 'c-1',
    customerExternalId: 'u-1',
    channel: 'email',
    createdAt: '2019-03-01T09:00:00Z',
    status: 'resolved',
  },
])
const said = {
  conversationExternalId: 'c-1',
  direction: 'inbound',
  author: { type: 'customer', name: 'Ada' },
}
const messages = lines([
  { ...said, body: 'It halts.\nAgain.', createdAt: '2019-03-01T09:00:00Z' },
  {
    ...said,
    direction: 'outbound',
    author: { type: 'ai' },
    body: 'Turn it.',
    createdAt: '2019-03-01T09:05:00Z',
  },
])

test('customers, tickets, conversations and messages in one run; a second run changes nothing', async () => {
  const { api, take } = await desk()
  const files = [
    [fileOf(customers), 'customers', 2],
    [fileOf(tickets, 'tickets.csv'), 'tickets', 2],
    [fileOf(conversations, 'conversations.ndjson'), 'conversations', 1],
    [fileOf(messages, 'messages.jsonl'), 'messages', 2],
  ] as const
  for (const [path, kind, rows] of files)
    expect(await take(path, kind)).toMatchObject({
      code: 0,
      operation: 'import',
      rows,
      created: rows,
      rejected: 0,
    })
  const ada = (await api.get('/v1/customers?externalId=u-1')).json.data[0]
  const ticket = (await api.get('/v1/tickets?number=4711')).json.data[0]
  expect(ticket).toMatchObject({
    customerId: ada.id,
    status: 'resolved',
    createdAt: '2019-03-01T09:00:00.000Z',
    resolvedAt: '2019-03-04T09:00:00.000Z',
  })
  const conversation = (await api.get(`/v1/conversations?customerId=${ada.id}`)).json.data[0]
  expect(conversation).toMatchObject({ status: 'resolved', lastMessageAt: '2019-03-01T09:05:00.000Z' })
  const { data } = (await api.get(`/v1/messages?conversationId=${conversation.id}`)).json
  expect(data.map(({ sentAt, body }: Record<string, string>) => [sentAt, body])).toEqual([
    ['2019-03-01T09:05:00.000Z', 'Turn it.'],
    ['2019-03-01T09:00:00.000Z', 'It halts.\nAgain.'],
  ])
  expect(await storedEvents(shared(), api.organizationId)).toEqual([])

  const before = (await api.get('/v1/changes?updatedAfter=1970-01-01T00:00:00Z')).text
  for (const [path, kind, rows] of files) {
    const { code, unchanged }: Record<string, unknown> = await take(path, kind)
    // Messages have no externalId: the file is known by its bytes, and its first answer is repeated.
    expect([kind, code, unchanged]).toEqual([kind, 0, kind === 'messages' ? 0 : rows])
  }
  expect((await api.get('/v1/changes?updatedAfter=1970-01-01T00:00:00Z')).text).toBe(before)
})

test('a line is rejected with all its faults, by a rehearsal too; corrected, the rejects are a file to import', async () => {
  const { at, take } = await desk()
  await take(fileOf(customers), 'customers')
  const wrong = {
    externalId: 't-1',
    customerExternalId: 'u-9',
    subject: '',
    createdAt: '2999-01-01T00:00:00Z',
    colour: 'red',
  }
  const path = fileOf(`${lines([wrong])}{nonsense\n[]\n{"subject":"x"}\n`, 'tickets.ndjson')
  const rehearsed = await runHere(['import', path, '--kind', 'tickets', '--history', '--dry-run'])
  expect(rehearsed.stdout).toMatch(
    /^4 rows checked, 4 would be rejected\n1 row found by externalId; 1 row without/,
  )
  const ran = await take(path, 'tickets')
  expect(ran).toMatchObject({ code: 3, created: 0, rejected: 4 })
  expect(ran.stderr.split('\n')).toEqual([
    expect.stringMatching(
      /^line 1: customerExternalId: there is no customer .*; subject: .*; colour: .*; createdAt: must not be in the future/,
    ),
    expect.stringMatching(/^line 2: it is not JSON/),
    'line 3: it must be a JSON object',
    expect.stringMatching(/^line 4: customerId: is required/),
    '',
  ])
  const rejects = path.replace('.ndjson', '.rejects.ndjson')
  const [first = ''] = readFileSync(rejects, 'utf8').split('\n')
  const { error, ...kept } = JSON.parse(first)
  expect([kept, typeof error]).toEqual([wrong, 'string'])
  const corrected = {
    ...kept,
    error,
    customerExternalId: 'u-1',
    subject: 'Fine',
    createdAt: '2019-01-01T00:00:00Z',
  }
  writeFileSync(rejects, JSON.stringify({ ...corrected, colour: undefined }))
  expect(await take(rejects, 'tickets')).toMatchObject({ code: 0, created: 1 })
  expect(existsSync(`${rejects}.progress.json`)).toBe(false)

  const plain = await runHere(['import', fileOf(tickets), '--kind', 'tickets', ...at])
  expect([plain.code, plain.stderr]).toEqual([
    2,
    expect.stringMatching(
      /no column "customerExternalId", "number".*; --history takes columns of the past; accepted: /s,
    ),
  ])
})

test('lines of JSON are also imported as they are, without a past', async () => {
  const { api, at } = await desk()
  const path = fileOf(
    lines([{ externalId: 'u-1', name: 'Ada', customAttributes: { seats: 3 }, tags: ['a;b'] }]),
    'x.jsonl',
  )
  const first = await runHere(['import', path, '--json', ...at])
  expect(JSON.parse(first.stdout)).toMatchObject({ operation: 'upsert', created: 1 })
  const again = await runHere(['import', path, '--json', ...at])
  expect(JSON.parse(again.stdout)).toMatchObject({ operation: 'upsert', created: 0, unchanged: 1 })
  expect((await api.get('/v1/customers')).json.data[0]).toMatchObject({
    customAttributes: { seats: 3 },
    tags: ['a;b'],
  })
})
