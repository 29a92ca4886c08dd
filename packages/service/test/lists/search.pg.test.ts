import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeCustomer, makeTeammate, makeTicket } from '../../../testbed/desk.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const shared = sharedService()

async function found(api: Api, kind: string, q: string): Promise<string[]> {
  const answer = await api.get(`/v1/${kind}?limit=100&q=${encodeURIComponent(q)}`)
  if (answer.status !== 200) throw new Error(`${JSON.stringify(q)}: ${answer.text}`)
  return answer.json.data.map(({ id }: { id: string }) => id)
}

test.each([
  ['Ada', true],
  ['ada', true],
  ['LOVE', true],
  ['ada lov', true],
  ['lov, ada!', true],
  ['engine', true],
  ['ada@example.com', true],
  ['ada@exam', true],
  ['example', true],
  ['4930', true],
  ['+49 301', false],
  ['da', false],
  ['lace', false],
  ['ada grace', false],
  ['vip', true],
  ['crm-7', true],
  ['berlin 250', true],
  ['plan', false],
  ['true', false],
  ['Ad:*', true],
  ["ada' | 'x", false],
  ['!grace', false],
])('q=%s looks for words by their beginnings, all of them: %s', async (q, expected) => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api, {
    name: 'Ada Lovelace',
    company: 'Analytical-Engines Ltd.',
    email: 'ada@example.com',
    phone: '+4930123456',
    tags: ['vip'],
    externalId: 'CRM-77',
    customAttributes: { plan: 'Berlin office', seats: 250, active: true },
  })
  await makeCustomer(api, { name: 'Somebody Else' })
  expect(await found(api, 'customers', q)).toEqual(expected ? [id] : [])
})

test.each([
  ['+49 30 555 123456', true],
  ['+4930555123456', true],
  ['004930555123456', true],
  ['+49 (0)30 555-123456', true],
  ['030 555 123456', true],
  ['(030) 555/123456', true],
  ['030–555–123456', true],
  // As contacts are copied from a telephone.
  ['\u202a+49 30 555\u00a0123456\u202c', true],
  ['٠٣٠ ٥٥٥ ١٢٣٤٥٦', true],
  ['555123456', true],
  ['123456', true],
  ['030 555 123456 ada', true],
  ['ada 030 555 123456', true],
  ['23456', false],
  ['030 555 123457', false],
  ['+43 30 555 123456', false],
  ['130555123456', false],
  ['030 555 123456 grace', false],
])('the telephone number +4930555123456 is found by %s: %s', async (q, expected) => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api, { name: 'Ada', phone: '+4930555123456' })
  await makeCustomer(api, { name: 'Grace', phone: '+4930555123' })
  await makeCustomer(api, { name: 'Mary', phone: '+4930555123499' })
  expect(await found(api, 'customers', q)).toEqual(expected ? [id] : [])
})

test('numbers that are no telephone numbers are found as words, and as one where a custom attribute has it', async () => {
  const api = await shared().newOrganization()
  const dated = await makeCustomer(api, { name: 'Invoice 2026-11-28 of 100 000' })
  const mobile = await makeCustomer(api, { name: 'Ada', customAttributes: { mobile: '+436641234567' } })
  expect(await found(api, 'customers', '2026-11-28')).toEqual([dated.id])
  expect(await found(api, 'customers', '100 000 2026')).toEqual([dated.id])
  expect(await found(api, 'customers', '0664 1234567')).toEqual([mobile.id])
})

test.each([
  'ada.lovelace+desk@mail.example-one.com',
  'lovelace',
  'desk',
  'example',
  'one.com',
  'ada@mail',
  '@example-one.com',
  'LOVELACE@MAIL',
])('an email address is found by any part between separators: %s', async (q) => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api, { name: 'A', email: 'ada.lovelace+desk@mail.example-one.com' })
  expect(await found(api, 'customers', q)).toEqual([id])
})

test('a tag with any character is found as a whole, and by its words', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api, { name: 'A', tags: ['Größe\nXL 100%'] })
  const listed = await api.get(`/v1/customers?tag=${encodeURIComponent('Größe\nXL 100%')}`)
  expect(listed.json.data.map((row: { id: string }) => row.id)).toEqual([id])
  expect(await found(api, 'customers', 'grosse xl')).toEqual([id])
})

test('a ticket is found by its number, whether the service gave it or an import', async () => {
  const api = await shared().newOrganization()
  const { id, customerId } = await makeTicket(api, { subject: 'First', externalId: 'ZD_1' })
  const items = [{ customerId, subject: 'Moved', number: 70, externalId: 'ZD_2' }]
  const moved = (await api.post('/v1/tickets/batch', { operation: 'import', items })).json.data[0].id
  expect(await found(api, 'tickets', '#1')).toEqual([id])
  expect(await found(api, 'tickets', '1')).toEqual([id])
  expect(await found(api, 'tickets', '70')).toEqual([moved])
  expect(await found(api, 'tickets', 'zd')).toHaveLength(2)
  await api.patch(`/v1/tickets/${id}`, { subject: 'Changed' })
  expect(await found(api, 'tickets', '1 changed')).toEqual([id])
})

test.each([
  ['Chinese', '東京都渋谷区神南', ['渋谷', '谷', '渋谷区神南', '東京 神南', '南'], ['京東', '北']],
  ['Japanese', '請求書のダウンロードができない', ['ダウンロード', 'ロード', 'できない', 'い'], ['ドーロ']],
  ['Thai', 'ใบแจ้งหนี้ไม่ถูกต้อง', ['แจ้งหนี้', 'ไม่ถูก', 'ต้อง'], ['ถูกไม่']],
  ['Khmer', 'ខ្ញុំមិនអាចចូល', ['មិនអាច'], ['អាចមិន']],
  ['Burmese', 'ငွေတောင်းခံလွှာ', ['တောင်းခံ'], ['ခံတောင်း']],
  ['two scripts in one word', 'iPhone15ケースの返品', ['ケース', 'iphone15', '返品 iph'], ['hone']],
  ['Japanese with digits', '第3回会議2件', ['第3回', '3回会', '会議2'], ['2回', '3件']],
  // All pairs of the others are in the text.
  [
    'Chinese with the pairs of another text',
    '京都と東京の会社',
    ['京都', '東京の会'],
    ['東京都', '京の会都'],
  ],
  ['Japanese likewise', 'リリース画面のグリーンリング', ['グリーン', 'リリース画'], ['リーング', 'リングリ']],
  ['Thai likewise', 'กขคกค ขก', ['กขค', 'คกค'], ['ขคขก', 'กคก']],
])('%s is found by any part of it, without spaces', async (_script, subject, parts, others) => {
  const api = await shared().newOrganization()
  const { id } = await makeTicket(api, { subject })
  for (const q of parts) expect(await found(api, 'tickets', q), q).toEqual([id])
  for (const q of others) expect(await found(api, 'tickets', q), q).toEqual([])
})

test('a long text without spaces is found, and is itself a query', async () => {
  const api = await shared().newOrganization()
  const subject = Array.from({ length: 250 }, (_, n) => String.fromCodePoint(0x4e00 + n * 7)).join('')
  const { id } = await makeTicket(api, { subject })
  for (const q of [subject, subject.slice(200, 203), subject.slice(100)])
    expect(await found(api, 'tickets', q)).toEqual([id])
})

test('a list is filtered by a custom attribute, together with others and by pages', async () => {
  const api = await shared().newOrganization()
  const ids: string[] = []
  for (const customAttributes of [
    { plan: 'gold', n: 1 },
    { plan: 'gold' },
    { plan: 'golden' },
    { plan: 'gold' },
  ])
    ids.unshift((await makeCustomer(api, { name: 'Ada', customAttributes })).id)
  const [last, golden, second, first] = ids
  const list = async (query: string) => {
    const { status, json } = await api.get(`/v1/customers?${query}`)
    return status === 200 ? json.data.map(({ id }: { id: string }) => id) : json.code
  }
  expect(await list('customAttribute=plan:gold')).toEqual([last, second, first])
  expect(await list(`customAttribute=plan:gold&limit=1&after=${last}`)).toEqual([second])
  expect(await list(`customAttribute=plan:gold&limit=1&after=${golden}`)).toEqual([second])
  expect(await list('customAttribute=n:1')).toEqual([first])
  expect(await list('customAttribute=n:1&q=ada&tag=x')).toEqual([])
  expect(await list('customAttribute=Plan:gold')).toEqual([])
  expect(await list('customAttribute=plan')).toBe('invalid_parameter')
  await api.patch(`/v1/customers/${second}`, { customAttributes: { plan: null } })
  expect(await list('customAttribute=plan:gold')).toEqual([last, first])
})

test('a custom attribute is found by its escaped name and its value as a JSON scalar, and no other is', async () => {
  const api = await shared().newOrganization()
  const finds: [attributes: string, ...filters: string[]][] = [
    ['{"a":"b:c"}', 'a:b:c', 'a:"b:c"'],
    ['{"a:b":"c"}', 'a\\:b:c'],
    ['{"a\\\\":"c"}', 'a\\\\:c'],
    ['{"n":3}', 'n:3', 'n:3.0', 'n:30e-1'],
    ['{"n":"3"}', 'n:"3"', 'n:"\\u0033"'],
    ['{"n":1e+21}', 'n:1e21', 'n:1E+21', 'n:1000000000000000000000'],
    ['{"n":0.1}', 'n:0.10', 'n:0.1'],
    ['{"n":"0.10"}', 'n:"0.10"'],
    ['{"n":true}', 'n:true'],
    ['{"n":"true"}', 'n:"true"'],
    ['{"n":"\\"3\\""}', 'n:"\\"3\\""'],
    ['{"n":"007"}', 'n:007'],
    ['{"n":"null"}', 'n:null'],
    ['{"n":0}', 'n:-0', 'n:0e9'],
  ]
  for (const [attributes] of finds) {
    const { status } = await api.post('/v1/customers', `{"name":"a","customAttributes":${attributes}}`)
    expect(status).toBe(201)
  }
  const found = async (filter: string) => {
    const { json } = await api.get(`/v1/customers?customAttribute=${encodeURIComponent(filter)}`)
    return json.data?.map(({ customAttributes }: { customAttributes: object }) =>
      JSON.stringify(customAttributes),
    )
  }
  for (const [attributes, ...filters] of finds)
    for (const filter of filters) expect([filter, await found(filter)]).toEqual([filter, [attributes]])
  for (const filter of ['a', ':a', 'a\\b:c', 'n:9007199254740993', 'n:1e400']) {
    const { status, json } = await api.get(`/v1/customers?customAttribute=${encodeURIComponent(filter)}`)
    expect([filter, status, json.code]).toEqual([filter, 400, 'invalid_parameter'])
  }
})

test('the words of tickets are those of their subject, of teammates name and email', async () => {
  const api = await shared().newOrganization()
  const ticket = await makeTicket(api, { subject: 'Printer on fire', description: 'smoke' })
  const teammate = await makeTeammate(api, { name: 'Grace', email: 'hopper@example.com' })
  expect(await found(api, 'tickets', 'fire')).toEqual([ticket.id])
  expect(await found(api, 'tickets', 'smoke')).toEqual([])
  expect(await found(api, 'teammates', 'hopp')).toEqual([teammate.id])
})

test('what is found follows changes', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api, { name: 'Ada' })
  await api.patch(`/v1/customers/${id}`, { name: 'Grace' })
  expect([await found(api, 'customers', 'ada'), await found(api, 'customers', 'grace')]).toEqual([[], [id]])
  await api.delete(`/v1/customers/${id}`)
  expect(await found(api, 'customers', 'grace')).toEqual([])
})

test.each([
  ['Jürgen', 'jürg'],
  ['JÜRGEN', 'jürgen'],
  ['Ju\u0308rgen', 'Jürgen'],
  ['Ωmega', 'ωmega'],
  ['Ростислав', 'рост'],
  ['田中太郎', '田中'],
  ['हिन्दी', 'हिन्दी'],
  ['محمد', 'محم'],
  ['สมชาย', 'สมชาย'],
  ['ﬁsher', 'fish'],
  ['Ｔｏｋｙｏ', 'tok'],
  ['İstanbul', 'İstanbul'],
  ['Straße 1a', 'straße 1'],
  ['𝒜da', 'ada'],
  ['٣٤٥', '٣٤'],
  ['x²', 'x2'],
])('%s is found by %s', async (name, q) => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api, { name })
  expect(await found(api, 'customers', q)).toEqual([id])
})

test.each([
  // Hindi: the consonants of one name begin the consonants of the other.
  ['हिमानी', 'हमनशीं', 'हिमा'],
  ['क्षितिज', 'कषत', 'क्षितिज'],
  ['நித்யா', 'நதய', 'நித்'],
  ['ศิริพร', 'ศรพร', 'ศิริ'],
  ['ភ្នំពេញ', 'ភនពញ', 'ភ្នំ'],
  ['മലയാളം', 'മലയളം', 'മലയാ'],
])('%s is not %s, as marks belong to their words', async (name, other, q) => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api, { name })
  await makeCustomer(api, { name: other })
  expect(await found(api, 'customers', q)).toEqual([id])
  // Nor does a word begin behind a mark, where words are written apart.
  if (/[\p{Script=Thai}\p{Script=Khmer}]/u.test(name)) return
  const inside = [...name].findIndex((one, n) => n > 0 && /\p{M}/u.test(one) && n < [...name].length - 1)
  expect(await found(api, 'customers', [...name].slice(inside + 1).join(''))).not.toContain(id)
})

test.each([
  ['Vietnamese, decomposed and composed', 'Nguyễn Thị Hường'.normalize('NFD'), 'nguyễn thị hường'],
  ['Arabic with harakat and without', 'مُحَمَّد', 'محمد'],
  ['an emoji between words', 'Ada 👩🏽‍🚀 Lovelace ❤️', 'lovelace ada'],
  ['a keycap', 'Gate 7️⃣', 'gate 7'],
  // A letter without a form with its mark, and one with.
  ['Yoruba with marks and without', 'Ọ̀ṣun', 'osun'],
  ['an apostrophe and none', "O'Brien D'Angelo", 'obrien dangelo'],
  ['a non-joiner and none', 'علی\u200cرضا', 'علیرضا'],
  ['a middle dot and none', 'ジョン・スミス', 'ジョンスミス'],
])('%s are the same word', async (_what, one, other) => {
  const api = await shared().newOrganization()
  const ids = new Set<string>()
  for (const name of [one, other]) ids.add((await makeCustomer(api, { name })).id)
  for (const q of [one, other]) expect(new Set(await found(api, 'customers', q))).toEqual(ids)
})

test('whatever a name is, as long as it has a letter or digit it is found by itself', async () => {
  const api = await shared().newOrganization()
  const names = fc.sample(
    fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .filter((name) => /[\p{L}\p{N}]/u.test(name.normalize('NFKC'))),
    { numRuns: 80, seed: 1 },
  )
  for (const name of names) {
    const { id } = await makeCustomer(api, { name })
    expect(await found(api, 'customers', name), JSON.stringify(name)).toContain(id)
    await api.delete(`/v1/customers/${id}`)
  }
})

test.each(['', ' ', '-', '!?', '@', '🦉', '\u0301', '%00', "'"])(
  'q=%j, without a letter or digit, is 400',
  async (q) => {
    const answer = await shared().api.get(`/v1/customers?q=${encodeURIComponent(q === '%00' ? '\0' : q)}`)
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_parameter'])
  },
)

test('a query of any length and of any characters is answered', async () => {
  const { api } = shared()
  for (const q of [
    'x'.repeat(3000),
    '㌀'.repeat(700),
    'ﷺ'.repeat(700),
    'a '.repeat(2000),
    '\ud83e',
    'a\0b',
    'a & b | !c <-> (d)',
  ]) {
    const answer = await api.get(`/v1/customers?q=${encodeURIComponent(q.toWellFormed())}`)
    expect([200, 400], `${q.slice(0, 5)}: ${answer.text.slice(0, 200)}`).toContain(answer.status)
    expect(answer.status === 200 || q.includes('\0') || !/[\p{L}\p{N}]/u.test(q), q.slice(0, 5)).toBe(true)
  }
})
