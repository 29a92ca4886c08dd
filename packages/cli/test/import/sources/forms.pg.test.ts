/** What accounts hold beyond the ordinary, and what was at the desk before: every record arrives or is listed. */
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { forward, startHttpServer } from '../../../../testbed/loopback.ts'
import { sharedService } from '../../../../testbed/shared-service.ts'
import { runHere } from '../../run-here.ts'
import { fileOf } from '../files.ts'
import { importInto, type Row, rowsOf } from './desk.ts'
import { agents, lines, ticketsOf, users } from './zendesk-account.ts'

const shared = sharedService()
const ada = {
  id: 35,
  name: 'Ada',
  email: 'ada@x.example',
  role: 'end-user',
  user_fields: {},
  created_at: '2019-01-01T00:00:00Z',
}
const grace = {
  id: 99,
  name: 'Grace',
  email: 'grace@x.example',
  role: 'agent',
  created_at: '2019-01-01T00:00:00Z',
}
const said = { id: 1, author_id: 35, body: 'It halts.', public: true, created_at: '2019-03-01T09:00:00Z' }
const ticket = {
  id: 7,
  requester_id: 35,
  subject: 'The engine halts',
  status: 'open',
  created_at: '2019-03-01T09:00:00Z',
  updated_at: '2019-03-04T09:00:00Z',
  comments: [said],
}

async function imported(
  records: readonly unknown[],
  api?: Awaited<ReturnType<ReturnType<typeof shared>['newOrganization']>>,
) {
  const into = api ?? (await shared().newOrganization())
  const text = records.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n')
  const run = await importInto(shared(), into, ['zendesk', fileOf(text, 'account.json')])
  return { ...run, api: into, rows: await rowsOf(shared(), into) }
}

test('comments of audits, of a ticket or by themselves, arrive like others', async () => {
  const { comments: _, ...bare } = ticket
  const audit = (id: number, events: readonly object[], more = {}) => ({
    id,
    created_at: '2019-03-02T09:00:00Z',
    author_id: 99,
    events,
    ...more,
  })
  const { code, rows } = await imported([
    {
      audits: [
        audit(
          1,
          [
            { id: 11, type: 'Comment', body: 'Of an audit', public: false },
            { id: 12, type: 'Change' },
          ],
          { ticket_id: 8 },
        ),
      ],
    },
    { ticket: { ...bare, audits: [audit(2, [{ id: 21, type: 'Comment', body: 'Within', public: true }])] } },
    { ...bare, id: 8 },
    { users: [ada, grace] },
  ])
  expect(code).toBe(0)
  expect(rows.messages.map(({ body, author, createdAt }) => [body, author.name, createdAt])).toEqual([
    ['Within', 'Grace', '2019-03-02T09:00:00.000Z'],
  ])
  expect(rows.notes.map(({ body, author }) => [body, author.type])).toEqual([['Of an audit', 'teammate']])
})

test('an agent who became an end user is an inactive teammate in what was written as one', async () => {
  const former = { ...grace, role: 'end-user', active: false }
  const { code, rows } = await imported([
    {
      ...ticket,
      assignee_id: 99,
      comments: [said, { ...said, id: 2, author_id: 99 }, { ...said, id: 3, author_id: 99, public: false }],
    },
    { users: [ada, former] },
  ])
  const [teammate] = rows.teammates
  expect([code, teammate?.name, teammate?.active]).toEqual([0, 'Grace', false])
  expect(rows.messages.map(({ direction, author }) => [direction, author.id ?? null]).sort()).toEqual([
    ['inbound', null],
    ['outbound', teammate?.id],
  ])
  expect(rows.notes.map(({ author }) => author.id)).toEqual([teammate?.id])
  expect(rows.tickets[0]?.assigneeId).toBe(teammate?.id)
})

test('a ticket whose comments are in no file is listed', async () => {
  const { comments: _, ...bare } = ticket
  const { code, listed, rows } = await imported([
    { users: [ada, grace] },
    ticket,
    { ...bare, id: 8, description: 'Long ago' },
  ])
  expect([code, rows.tickets.map(({ description }) => description).sort()]).toEqual([3, ['Long ago', null]])
  expect(listed).toEqual([
    {
      kind: 'ticket',
      id: '8',
      outcome: 'changed',
      error: 'none of its comments is in the files: it has its description only',
    },
  ])
})

test('people who are in tickets only are customers and teammates too', async () => {
  const { requester_id: _, ...bare } = ticket
  const { code, rows } = await imported([
    { ...bare, requester: ada, assignee: grace, comments: [said, { ...said, id: 2, author_id: 99 }] },
  ])
  expect([code, rows.customers.map(({ email }) => email), rows.teammates.map(({ name }) => name)]).toEqual([
    0,
    ['ada@x.example'],
    ['Grace'],
  ])
  expect(rows.tickets[0]?.assigneeId).toBe(rows.teammates[0]?.id)
  expect(rows.messages.map(({ direction }) => direction).sort()).toEqual(['inbound', 'outbound'])
})

test('numbers that cannot be kept are refused with their place; those that nobody reads are passed over', async () => {
  const at = (number: string, id: number) =>
    JSON.stringify({
      ...ticket,
      id,
      comments: [{ ...said, id }],
      custom_fields: [{ id: 1, value: 'N' }],
      metadata: 'M',
    })
      .replace('"N"', number)
      .replace('"M"', '1.00000000000000000001')
  const { code, listed, rows } = await imported([
    { users: [ada, grace] },
    at('5', 7),
    at('12345678901234567890', 8),
    at('1e400', 9),
  ])
  expect(code).toBe(3)
  expect(rows.tickets.map(({ number }) => number)).toEqual([7])
  expect(
    listed.map(({ id, outcome, error }) => [id, outcome, error.replace(/ that a double.*/, '')]),
  ).toEqual([
    ['8', 'refused', 'custom_fields.0.value: must be a number'],
    ['9', 'refused', 'custom_fields.0.value: must be a number'],
  ])
})

test('of a ticket that an export has several times the last state arrives', async () => {
  const { code, rows, summary } = await imported([
    { users: [ada, grace] },
    ticket,
    { ...ticket, status: 'solved', updated_at: '2019-03-05T09:00:00Z' },
    { ...ticket, status: 'solved', updated_at: '2019-03-05T09:00:00Z' },
  ])
  expect([code, rows.tickets.map(({ status }) => status)]).toEqual([0, ['resolved']])
  expect(summary.rows.ticket).toEqual({ created: 1, present: 1, refused: 0 })
})

test('a customer whose numbers cannot be kept arrives with its id, and so do its tickets', async () => {
  const user = JSON.stringify({ ...ada, user_fields: { seats: 'N' } }).replace('"N"', '12345678901234567890')
  const { code, listed, rows } = await imported([user, ticket])
  expect([code, rows.customers.length, rows.tickets.length]).toEqual([3, 1, 1])
  expect(listed).toMatchObject([
    {
      kind: 'user',
      id: '35',
      outcome: 'changed',
      error: expect.stringMatching(/^has its id only: user_fields\.seats: /),
    },
  ])
})

test('names and texts of any sort arrive, or are listed', async () => {
  const fields =
    '{"__proto__":"p","externalId":"mine","size:number":"1","":"empty","constructor":true,"é":"é","n":null}'
  const user = JSON.stringify({
    ...ada,
    name: 'Ada \u0000 L',
    email: 'ADA@X.example',
    user_fields: 'F',
    tags: ['a\u0000', 'ok'],
  }).replace('"F"', fields)
  const { listed, rows } = await imported([
    { users: [grace] },
    user,
    {
      ...ticket,
      subject: 'Half \ud83d a pair',
      tags: null,
      custom_fields: null,
      comments: [
        {
          ...said,
          body: 'Nul \u0000 l',
          attachments: [null, { content_url: 'javascript:alert(1)', file_name: 'x' }, { file_name: 'none' }],
        },
      ],
    },
  ])
  const [customer] = rows.customers
  expect(customer).toMatchObject({ name: 'Ada \ufffd L', email: 'ada@x.example', tags: ['ok'] })
  expect(Object.entries(customer?.customAttributes).sort()).toEqual([
    ['__proto__', 'p'],
    ['constructor', true],
    ['externalId', 'mine'],
    ['size:number', '1'],
    ['unnamed', 'empty'],
    ['é', 'é'],
  ])
  expect(rows.tickets[0]?.subject).toBe('Half \ufffd a pair')
  expect(rows.messages[0]).toMatchObject({ body: 'Nul \ufffd l\nx: javascript:alert(1)', attachments: [] })
  expect(listed.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual(
    expect.arrayContaining(['user changed', 'ticket changed', 'comment changed']),
  )
})

test('more people and comments than a call takes arrive once each, in their order', async () => {
  const people = Array.from({ length: 1_001 }, (_, n) => ({
    ...ada,
    id: 10_000 + n,
    email: `p${n}@x.example`,
  }))
  const comments = Array.from({ length: 2_001 }, (_, n) => ({
    ...said,
    id: 20_000 + n,
    author_id: 10_000,
    body: `No. ${n}`,
  }))
  const { code, rows } = await imported([
    { users: people },
    { ...ticket, requester_id: 10_000, comments },
    { ...ticket, id: 8, requester_id: 11_000, comments: [] },
  ])
  expect([code, rows.customers.length, rows.messages.length, rows.tickets.length]).toEqual([
    0, 1_001, 2_001, 2,
  ])
  const inOrder = [...rows.messages]
    .sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
    .map(({ body }) => body)
  expect(inOrder).toEqual(comments.map(({ body }) => body))
})

test('a status, a requester and an id that are missing or unknown are refused, and the others arrive', async () => {
  const { listed, rows, summary } = await imported([
    { users: [ada, grace] },
    ticket,
    { ...ticket, id: 8, status: 'archived' },
    { ...ticket, id: 9, requester_id: null },
    { ...ticket, id: null },
    { ...ticket, id: 10, created_at: '2999-01-01T00:00:00Z' },
    { nothing: 'of Zendesk' },
    { ticket_events: [{ ticket_id: 77, child_events: [{ ...said, id: 5, event_type: 'Comment' }] }] },
  ])
  expect(rows.tickets).toHaveLength(1)
  expect(listed.map(({ kind, id, error }) => `${kind} ${id.replace(/.*:/, ':')} ${error}`)).toEqual([
    expect.stringMatching(/^record :7 is none of: users, tickets/),
    expect.stringMatching(/^ticket 8 has the status "archived"; known: new, open/),
    'ticket 9 has no requester',
    'ticket  has no id',
    expect.stringMatching(/^ticket 10 its conversation is refused: createdAt: must not be in the future/),
    'comment 5 is of the ticket 77, which is not in the files',
  ])
  expect(summary.rows.conversation).toEqual({ created: 1, present: 0, refused: 4 })
})

test('a customer with the same address, a taken number and a teammate with the same address are those of the desk', async () => {
  const api = await shared().newOrganization()
  const customer = (
    await api.post('/v1/customers', { externalId: 'crm-1', email: 'ada@x.example', name: 'Countess' })
  ).json
  const teammate = (await api.post('/v1/teammates', { name: 'Grace H.', email: 'grace@x.example' })).json
  const taken = (await api.post('/v1/tickets', { customerId: customer.id, subject: 'First' })).json
  const { code, listed, rows } = await imported(
    [{ users: [ada, grace] }, { ...ticket, id: taken.number, assignee_id: 99 }],
    api,
  )
  expect([code, rows.customers.length, rows.teammates.length]).toEqual([3, 1, 1])
  const row = rows.tickets.find(({ externalId }) => externalId !== null)
  expect(row).toMatchObject({ customerId: customer.id, assigneeId: teammate.id, number: taken.number + 1 })
  expect(rows.customers[0]?.name).toBe('Countess')
  expect(listed).toMatchObject([
    {
      kind: 'ticket',
      outcome: 'changed',
      error: `the number ${taken.number} is taken: it has the next free one`,
    },
  ])
  const again = await imported(
    [{ users: [ada, grace] }, { ...ticket, id: taken.number, assignee_id: 99 }],
    api,
  )
  expect(again.rows).toEqual(rows)
})

test('a second account arrives next to the first with a prefix of its own', async () => {
  const { api } = await imported([{ users: [ada, grace] }, ticket])
  const other = { ...ada, name: 'Eve', email: 'eve@x.example' }
  const path = fileOf(lines([{ users: [other, grace] }, { ...ticket, subject: 'Another' }]), 'account.json')
  const { code, listed } = await importInto(shared(), api, ['zendesk', path, '--prefix', 'second'])
  const rows = await rowsOf(shared(), api)
  expect([code, rows.teammates.length, rows.messages.length]).toEqual([3, 1, 2])
  expect(rows.customers.map(({ externalId, name }) => [externalId, name]).sort()).toEqual([
    ['second-35', 'Eve'],
    ['zendesk-35', 'Ada'],
  ])
  expect(rows.tickets.map(({ subject, number }) => [subject, number]).sort()).toEqual([
    ['Another', 8],
    ['The engine halts', 7],
  ])
  expect(listed.map(({ error }) => error)).toEqual(['the number 7 is taken: it has the next free one'])
  const wrong = await runHere(['import', 'zendesk', path, '--prefix', 'a b', '--dry-run'])
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/--prefix is 1 to 40 letters/)])
})

test('work of a teammate who is inactive by now arrives unassigned', async () => {
  const { api } = await imported([
    { users: [ada, { ...grace, suspended: true }] },
    { ...ticket, assignee_id: 99 },
  ])
  const { listed, rows } = await imported(
    [
      { users: [ada, { ...grace, suspended: true }] },
      { ...ticket, id: 8, assignee_id: 99, comments: [{ ...said, id: 2 }] },
    ],
    api,
  )
  expect(rows.teammates.map(({ active }) => active)).toEqual([false])
  expect(rows.tickets.map(({ number, assigneeId }) => [number, assigneeId !== null])).toEqual([
    [7, true],
    [8, false],
  ])
  expect(listed.map(({ error }) => error)).toEqual(
    Array(2).fill('its assignee is an inactive teammate by now: nobody is assigned'),
  )
})

test('files that lack what makes sense of the others are refused, and nothing is sent', async () => {
  const { comments: _, ...bare } = ticket
  const cases: [string, RegExp][] = [
    [lines([ticket]), /tickets and no users/],
    [lines([{ users: [ada, grace] }, bare]), /have no comments: give the ticket events too/],
    [
      lines([
        { users: [ada] },
        bare,
        { ticket_id: 7, child_events: [{ id: 1, comment_present: true, comment_public: true }] },
      ]),
      /include=comment_events/,
    ],
    ['id,subject\n7,x\n', /is no JSON object/],
    ['{"rows":[]}', /does not hold users, tickets/],
    ['', /does not hold users, tickets/],
  ]
  for (const [text, message] of cases) {
    const { code, stderr } = await runHere(['import', 'zendesk', fileOf(text, 'x.json'), '--dry-run'])
    expect([stderr, code]).toEqual([expect.stringMatching(message), text.startsWith('id,') ? 1 : 2])
  }
  for (const [word, message] of [
    ['/nowhere/x.json', /there is no such file$/m],
    ['example.zendesk.com', /the address of an account begins with https:/],
    ['docs', /docs is a directory: name its files, such as docs\/\*\.json/],
  ] as const) {
    const missing = await runHere(['import', 'zendesk', word, '--dry-run'])
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringMatching(message)])
  }
  const intercom = await runHere(['import', 'intercom', fileOf(lines([ticket]), 'x.json'), '--dry-run'])
  expect([intercom.code, intercom.stderr]).toEqual([
    2,
    expect.stringMatching(/does not hold admins, contacts/),
  ])
})

test('a key that may not do all that an account needs is refused before anything is sent', async () => {
  const api = await shared().newOrganization()
  const small = await shared().newKey(api.organizationId, ['import', 'customers:read', 'customers:write'])
  const { code, stderr } = await importInto(shared(), small, [
    'zendesk',
    fileOf(lines([ada, ticket]), 'a.json'),
  ])
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/lacks scopes that this needs: teammates:read, .*tickets:write$/m),
  ])
  expect((await rowsOf(shared(), api)).customers).toEqual([])
})

test('conversations without their parts, and tickets of Intercom, are refused by name', async () => {
  const api = await shared().newOrganization()
  const contact = { type: 'contact', id: 'c', role: 'user', email: 'c@x.example', created_at: 1_551_430_800 }
  const conversation = {
    type: 'conversation',
    id: '1',
    state: 'open',
    contacts: { contacts: [{ id: 'c' }] },
    created_at: 1_551_430_800,
  }
  const path = fileOf(
    lines([
      contact,
      conversation,
      { type: 'ticket', id: '2' },
      { ...conversation, id: '3', state: 'lost', conversation_parts: {} },
    ]),
    'x.ndjson',
  )
  const { code, listed } = await importInto(shared(), api, ['intercom', path])
  expect(code).toBe(3)
  expect(listed.map(({ kind, id, error }) => [kind, id, error.split(':')[0]])).toEqual([
    ['conversation', '1', 'has no conversation_parts'],
    ['ticket', '2', 'tickets of Intercom are not taken'],
    ['conversation', '3', 'has the state "lost"; known'],
  ])
})

test('an import that stops at any call, even after the call was done, goes on without losing or doubling anything', async () => {
  const all = ticketsOf(12)
  const events = all.map(({ id }, n) => ({
    id: 900 + n,
    ticket_id: id,
    created_at: '2019-03-02T09:00:00Z',
    child_events: [
      {
        id: 9_000 + n,
        event_type: 'Comment',
        author_id: 901,
        body: `Note ${n}`,
        public: false,
        created_at: '2019-03-02T09:00:00Z',
      },
    ],
  }))
  const text = lines([{ users: [...agents, ...users.slice(0, 20)] }, ...all, { ticket_events: events }])
  const whole = await shared().newOrganization()
  await importInto(shared(), whole, ['zendesk', fileOf(text, 'account.json')])
  const expected = counted(await rowsOf(shared(), whole))

  const api = await shared().newOrganization()
  const path = fileOf(text, 'account.json')
  let stops = 0
  let calls = 0
  await using between = await startHttpServer(async (request, response) => {
    const answer = await forward(request, shared().url)
    // The next one each time.
    const isLost = request.method === 'POST' && calls++ === stops
    if (isLost)
      response
        .writeHead(400, { 'content-type': 'application/problem+json' })
        .end('{"type":"t","title":"t","status":400,"code":"invalid_request","detail":"Lost."}')
    else response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.text)
  })
  // A key of the same organization is as good.
  const keys = [api.token, (await shared().newKey(api.organizationId, ['*'])).token]
  const run = () =>
    runHere([
      ...['import', 'zendesk', path, '--json', '--url', `${between.url}/v1`],
      ...['--key', keys[stops % 2] ?? ''],
    ])
  let ran = await run()
  const files: boolean[] = []
  for (; ran.code === 1; stops++) {
    expect(ran.stderr).toMatch(/records done; run the same command again to go on/)
    files.push(existsSync(join(dirname(path), 'zendesk.progress.json')))
    calls = 0
    ran = await run()
    expect(stops).toBeLessThan(30)
  }
  expect(ran.code).toBe(3)
  expect(files.length).toBeGreaterThan(3)
  expect(files.every(Boolean)).toBe(true)
  expect(counted(await rowsOf(shared(), api))).toEqual(expected)
  expect(readdirSync(dirname(path)).filter((name) => name.includes('progress'))).toEqual([])
})

/** Rows without what differs between organizations. */
function counted(rows: Row) {
  const plain = Object.entries(rows as Record<string, Row[]>).map(([kind, all]) => [
    kind,
    all
      .map(({ externalId, body, name, createdAt, active }) =>
        JSON.stringify([externalId, body, name, createdAt, active]),
      )
      .sort(),
  ])
  return Object.fromEntries(plain)
}
