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
  ['vip', false],
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
  })
  await makeCustomer(api, { name: 'Somebody Else' })
  expect(await found(api, 'customers', q)).toEqual(expected ? [id] : [])
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
  // Not torn where a letter has no form with its mark: Yoruba.
  ['Ọ̀ṣun', 'Oṣun', 'Ọ̀Ṣ'],
])('%s is not %s, as marks belong to their words', async (name, other, q) => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api, { name })
  await makeCustomer(api, { name: other })
  expect(await found(api, 'customers', q)).toEqual([id])
  // Nor does a word begin behind a mark.
  const inside = [...name].findIndex((one, n) => n > 0 && /\p{M}/u.test(one) && n < [...name].length - 1)
  expect(await found(api, 'customers', [...name].slice(inside + 1).join(''))).not.toContain(id)
})

test.each([
  ['Vietnamese, decomposed and composed', 'Nguyễn Thị Hường'.normalize('NFD'), 'nguyễn thị hường'],
  ['Hebrew with points and without', 'שָׁלוֹם', 'שלום'],
  ['Arabic with harakat and without', 'مُحَمَّد', 'محمد'],
  ['a conjunct with a joiner and without', 'क्\u200dषितिज', 'क्षितिज'],
  ['a soft hyphen', 'Fuß\u00adball', 'fußball'],
  ['a capital with a dot', 'İstanbul', 'istanbul'],
  ['an emoji between words', 'Ada 👩🏽‍🚀 Lovelace ❤️', 'lovelace ada'],
  ['a keycap', 'Gate 7️⃣', 'gate 7'],
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
