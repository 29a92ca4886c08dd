/** What a search costs is bounded: by the words it may have, by the time it may take, and by whose rows it reads. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { type TestDatabase, testDatabase } from '../../../testbed/database.ts'
import { makeCustomer, makeMessage, makeTicket } from '../../../testbed/desk.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { apiDocument } from '../../src/api-document.ts'
import { createPool, endPool } from '../../src/db/pool.ts'
import { queryTextWithin } from '../../src/db/text-query.ts'
import { kinds } from '../../src/desk/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { browseStatement } from '../../src/kinds/http/browse.ts'
import { parseListQuery } from '../../src/kinds/http/list-query.ts'
import { seedRows } from '../plans/seed.ts'

interface Declared {
  readonly name: string
  readonly in: string
}

const shared = sharedService()
const letters = [...'abcdefghijklmnopqrstuvwxyz']

const search = (api: Api, q: string, more = '') =>
  api.get(`/v1/customers?limit=100&q=${encodeURIComponent(q)}${more}`)

test('a long text in any parameter of any route that reads, and in any field of a kind, is no fault of the service', async () => {
  const api = await shared().newOrganization()
  const headers = { authorization: `Bearer ${api.token}` }
  const texts = ['\u{1F600}'.repeat(3_000), 'é '.repeat(500) + 'x'.repeat(99_000)]
  const call = async (method: 'GET' | 'POST', url: string, payload?: object) => {
    // In process, as tools call: no limit of headers bounds an address.
    const answer = await shared().app.server.inject({ method, url, headers, ...(payload && { payload }) })
    return answer.statusCode
  }
  const failed: string[] = []
  let tried = 0
  const paths = Object.entries(
    (await apiDocument(kinds)).paths as Record<string, { get?: { parameters?: Declared[] } }>,
  )
  for (const [path, { get }] of paths) {
    for (const { name, in: where } of get?.parameters ?? []) {
      if (where !== 'query') continue
      for (const text of texts) {
        const address = path.replaceAll(/\{\w+\}/g, api.organizationId)
        const status = await call('GET', `${address}?${name}=${encodeURIComponent(text)}`)
        tried++
        if (![200, 400, 404].includes(status)) failed.push(`${path} ${name} ${text.slice(0, 2)}: ${status}`)
      }
    }
  }
  for (const { plural, fields, example } of kinds) {
    for (const name of Object.keys(fields)) {
      for (const value of [texts[0], texts, Object.fromEntries(texts.map((text) => [text, text]))]) {
        const status = await call('POST', `/v1/${plural}`, { ...example, [name]: value })
        if (![201, 422].includes(status)) failed.push(`${plural}.${name}: ${status}`)
      }
    }
  }
  expect(failed).toEqual([])
  expect(tried).toBeGreaterThan(200)
  const { json } = await api.get(`/v1/customers?tag=${'x'.repeat(51)}`)
  expect(json.detail).toMatch(/^tag must be a string of 1 to 50 characters; got "x+…?"\.$/)
})

test('more than 16 words are refused, and the refusal says how many may be', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api, { name: letters.join(' ') })
  const most = await search(api, letters.slice(0, 16).join(' '))
  expect([most.status, most.json.data.map((row: { id: string }) => row.id)]).toEqual([200, [id]])
  for (const [count, q] of [
    [17, letters.slice(0, 17).join(' ')],
    [26, Array.from({ length: 200 }, (_, n) => letters[n % 26]).join(' ')],
  ] as const) {
    const { status, json } = await search(api, q)
    expect([status, json.code]).toEqual([400, 'invalid_parameter'])
    expect(json.detail).toMatch(new RegExp(`at most 16 words.*; got ${count}\\.$`))
  }
})

test('repeats and beginnings of other words are not counted, and ask for nothing more', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api, { name: 'Adalbert Adam' })
  await makeCustomer(api, { name: 'Ada' })
  const q = `${'a ad ada Ada adam ADAL '.repeat(40)}adal`
  const answer = await search(api, q)
  expect([answer.status, answer.json.data?.map((row: { id: string }) => row.id)]).toEqual([200, [id]])
})

test('words count in full, up to their first 255 characters, however many follow', async () => {
  const api = await shared().newOrganization()
  const [long, longer] = ['x'.repeat(255), 'x'.repeat(320)]
  const { id } = await makeCustomer(api, { name: long })
  const answers = await Promise.all(['x', long, longer].map((q) => search(api, q)))
  expect(answers.map(({ json }) => json.data.map((row: { id: string }) => row.id))).toEqual([
    [id],
    [id],
    [id],
  ])
  expect((await search(api, `${'x'.repeat(254)}y`)).json.pagination.total).toBe(0)
})

test('a text with more to be found by than an index takes is written, and found by its first words', async () => {
  const { api } = shared()
  // Every two neighbours are a term of eight bytes, after eight of the organization.
  let seed = 1
  const letters = Array.from({ length: 64_000 }, () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return String.fromCodePoint(0x20000 + ((seed >>> 8) % 42_709))
  })
  const body = letters.join('')
  expect(new Set(letters.slice(1).map((letter, n) => letters[n] + letter)).size * 16).toBeGreaterThan(
    1_000_000,
  )
  const { id } = await makeMessage(api, { body })
  const found = async (q: string) => {
    const answer = await api.get(`/v1/messages?q=${encodeURIComponent(q)}`)
    return answer.json.data.map((row: { id: string }) => row.id)
  }
  expect(await found(letters.slice(0, 9).join(''))).toEqual([id])
  expect(await found(letters.slice(-9).join(''))).toEqual([])
})

test.each([
  ['two words', 'two%20words'],
  ["it's", "it''s"],
  ['back\\slash', 'backslash'],
  ['100%', '100%25'],
  ['a & b | !c:*', 'a'],
  ['Ünï', 'ünï'],
  ['#vip', 'vip'],
  ['vip', 'VIP'],
  ['a\tb\u001f\u00a0c', 'a b\u001f\u00a0c'],
])(
  'the tag %j is found by itself, with words and without, and neither by q nor by the tag %j',
  async (tag, other) => {
    const api = await shared().newOrganization()
    const { id } = await makeCustomer(api, { name: 'Somebody', tags: ['first', tag, 'last'] })
    await makeCustomer(api, { name: 'Somebody', tags: [other] })
    const ids = async (query: string) =>
      (await api.get(`/v1/customers?${query}`)).json.data.map((row: { id: string }) => row.id)
    const asked = `tag=${encodeURIComponent(tag)}`
    expect(await ids(asked)).toEqual([id])
    expect(await ids(`${asked}&q=some`)).toEqual([id])
    expect(await ids(`${asked}&q=nobody`)).toEqual([])
    expect(await ids(`q=${encodeURIComponent(`${tag} zz`)}`)).toEqual([])
  },
)

test('words and tags go with every other filter', async () => {
  const api = await shared().newOrganization()
  const make = (subject: string, priority: string) => makeTicket(api, { subject, priority, tags: ['red'] })
  const first = await make('Printer on fire', 'high')
  await make('Printer on fire', 'low')
  await make('Printer out of paper', 'high')
  const ids = async (query: string) => {
    const { json } = await api.get(`/v1/tickets?${query}`)
    expect(json.pagination.total).toBe(json.data.length)
    return json.data.map((row: { id: string }) => row.id)
  }
  expect(await ids('q=fire+print&priority=high&tag=red')).toEqual([first.id])
  expect(await ids(`q=fire&createdAfter=2020-01-01T00:00:00Z&priority=high`)).toEqual([first.id])
  expect(await ids(`q=fire&createdBefore=2020-01-01T00:00:00Z`)).toEqual([])
  expect(await ids('tag=red&createdAfter=2020-01-01T00:00:00Z')).toHaveLength(3)
})

test('rows of an organization whose id ends alike, and so do its index entries, are not found', async () => {
  const { database, newOrganization } = shared()
  const api = await newOrganization()
  await makeCustomer(api, { name: 'Ada', tags: ['vip'] })
  const twin = `${randomUUID().slice(0, 28)}${api.organizationId.slice(28)}`
  await database.pool.query(
    `insert into customers_words (organization_id, id, created_at, terms)
       select $2, w.id, w.created_at, w.terms from customers_words w where w.organization_id = $1`,
    [api.organizationId, twin],
  )
  for (const query of ['q=ada', 'tag=vip', 'q=ada&tag=vip']) {
    expect((await api.get(`/v1/customers?${query}`)).json.pagination.total, query).toBe(1)
  }
})

test('a search that takes too long is ended and says what to do; nothing else is held to its limit', async () => {
  await using service = await testService({ searchTimeout: 100 })
  const { api, database } = service
  await makeCustomer(api, { name: 'Ada' })
  const client = await database.pool.connect()
  try {
    await client.query('begin')
    await client.query('lock table customers_words in access exclusive mode')
    const ended = await search(api, 'ada')
    expect([ended.status, ended.json.code]).toEqual([503, 'unavailable'])
    expect(Number(ended.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(ended.json.detail).toMatch(/took too long.*Narrow it/)
  } finally {
    await client.query('rollback')
    client.release()
  }
  expect((await search(api, 'ada')).json.pagination.total).toBe(1)
})

test('the limit of a statement holds for it alone, whether it is kept or not', async () => {
  await using database = await testDatabase({ max: 1 })
  const { pool } = database
  const limits = async () => {
    const { rows } = await pool.query('show statement_timeout')
    return rows[0].statement_timeout
  }
  const usual = await limits()
  expect(usual).toBe('30s')
  const shown = `select current_setting('statement_timeout'), $1::text`
  expect(await queryTextWithin(pool, 1_234, shown, ['mine'])).toEqual([['1234ms', 'mine']])
  expect(await limits()).toBe(usual)
  expect(await queryTextWithin(pool, 50, 'select 1 from pg_sleep(20)', [])).toBe('too_long')
  expect(await limits()).toBe(usual)
  await expect(queryTextWithin(pool, 1_000, 'select 1 / $1::int', ['0'])).rejects.toMatchObject({
    code: '22012',
  })
  await expect(queryTextWithin(pool, 1_000, 'select nothing', [])).rejects.toMatchObject({ code: '42703' })
  expect(await limits()).toBe(usual)
  expect(await queryTextWithin(pool, 1_000, 'select n from generate_series(1, 3) n', [])).toEqual([
    ['1'],
    ['2'],
    ['3'],
  ])
})

test('one match among many rows costs a few blocks, whoever else has rows', async () => {
  await using database = await testDatabase()
  const [ours, theirs] = [newId(testClock()), newId(testClock())]
  const customer = kinds.find(({ name }) => name === 'customer')!
  for (const organizationId of [ours, theirs]) await seedRows(database.pool, customer, organizationId, 20_000)
  // Rare here, and in every row there.
  await database.pool.query(
    `update customers_words w set terms = w.terms || ' common'
       where w.organization_id = $2 or w.organization_id = $1 and w.terms like '% name7777'`,
    [ours, theirs],
  )
  await database.pool.query('vacuum analyze customers_words')
  for (const query of [
    'q=common',
    'q=name7777',
    'q=name7777&phone=%2B4910007777',
    'q=name777&tag=t277',
    'q=name7777+word',
  ]) {
    expect([query, await blocksRead(database, ours, query)]).toEqual([
      query,
      expect.toSatisfy((n) => n < 100),
    ])
  }
  async function blocksRead({ connection }: TestDatabase, organizationId: string, query: string) {
    const parsed = parseListQuery(
      customer,
      { organizationId, scopes: ['*'] },
      new URLSearchParams(query),
      systemClock,
    )
    if (!parsed.ok || parsed.value.mode !== 'browse') throw new Error(JSON.stringify(parsed))
    const { text, values } = browseStatement(customer, organizationId, parsed.value)
    const one = createPool(connection, { max: 1, onIdleError: () => {} })
    try {
      const { rows } = await one.query(`explain (analyze, buffers, format json) ${text}`, [...values])
      const plan = rows[0]['QUERY PLAN'][0].Plan
      return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
    } finally {
      await endPool(one)
    }
  }
})
