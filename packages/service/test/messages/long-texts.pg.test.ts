/** Messages as long as they may be, of characters that are hard to find words in. */
import { expect, test } from 'vitest'
import { makeCustomer } from '../../../testbed/desk.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { searchWords } from '../../src/kinds/model/search.ts'

const shared = sharedService()

test.each([
  ['ligatures that stand for eighteen characters each', '\uFDFA'.repeat(63_990), 'صلى'],
  ['marks that belong to one character', '\u0315\u0300\u05ae\u0301'.repeat(15_990), 'needle'],
])('%s', async (_what, characters, word) => {
  const { api } = shared()
  const { id: customerId } = await makeCustomer(api)
  const conversation = (await api.post('/v1/conversations', { customerId, channel: 'chat' })).json
  const body = `needle ${characters}`
  const made = await api.post('/v1/messages', {
    conversationId: conversation.id,
    direction: 'outbound',
    author: { type: 'system' },
    body,
  })
  expect([made.status, made.json.body]).toEqual([201, body])
  const found = await api.get(`/v1/messages?conversationId=${conversation.id}&q=${encodeURIComponent(word)}`)
  expect(found.json.data).toHaveLength(1)
})

test('marks are put in order up to thirty on a character, and left out beyond', () => {
  // Marks that are part of words: vowel signs of Hindi.
  const plain = (marks: number) => searchWords(`ह${'\u093f'.repeat(marks)}म`)
  expect(plain(1)).toEqual(['हिम'])
  expect(plain(1_000)).toEqual(plain(30))
  const pairs = (many: number) => searchWords(`हि\u0328${'\u0315\u0300'.repeat(many)}म`)
  expect(pairs(20_000)).toEqual(pairs(15))
})
