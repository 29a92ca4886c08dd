/** The picture of the console in README: `npm run screenshots` writes it. */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { makeCustomer } from '../../testbed/desk.ts'
import { takePicture } from '../../testbed/picture.ts'
import type { Api } from '../../testbed/service.ts'
import { consoleBench } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()

test('a conversation that an AI has handed to a person', async () => {
  const api = await bench().service.newOrganization('Analytical Engines')
  const id = await conversation(api)
  const { page } = await bench().open(api, `/conversations/${id}`, { height: 660 })
  await page.getByText('refund of the second payment').first().waitFor()
  await settled(page)
  await takePicture(
    page,
    fileURLToPath(new URL('../../../docs/console/conversation-light.webp', import.meta.url)),
  )
})

const minute = 60_000

async function conversation(api: Api): Promise<string> {
  const done = ({ status, json }: Awaited<ReturnType<Api['post']>>) => {
    expect(status, JSON.stringify(json)).toBeLessThan(300)
    return json
  }
  const made = async (path: string, body: object) => done(await api.post(`/v1${path}`, body))
  const maya = await made('/teammates', { name: 'Maya Okafor', email: 'maya@example.com' })
  const ada = await makeCustomer(api, {
    name: 'Ada Lovelace',
    company: 'Analytical Engines',
    email: 'ada@example.com',
    timezone: 'Europe/London',
    tags: ['vip'],
  })
  const begun = Date.now() - 34 * minute
  const { id } = await made('/conversations', {
    customerId: ada.id,
    subject: 'Charged twice for March',
    channel: 'chat',
    handledBy: 'ai',
    tags: ['billing'],
  })
  const say = (after: number, body: string, author: object, direction: 'inbound' | 'outbound') =>
    made('/messages', {
      conversationId: id,
      body,
      direction,
      author,
      sentAt: new Date(begun + after * minute).toISOString(),
    })
  await say(
    0,
    'Hello, my card was charged twice for March. Invoice 2041 is listed two times.',
    { type: 'customer' },
    'inbound',
  )
  await say(
    1,
    'I see invoice 2041 paid on 2 March and again on 3 March. I cannot refund a payment myself, so a colleague takes over.',
    { type: 'ai', name: 'Desk assistant' },
    'outbound',
  )
  await made(`/conversations/${id}/escalate`, {})
  done(await api.patch(`/v1/conversations/${id}`, { assigneeId: maya.id }))
  await say(
    9,
    'Hello Ada, I have started the refund of the second payment. It reaches your account within three days.',
    { type: 'teammate', id: maya.id },
    'outbound',
  )
  await say(31, 'Thank you! Will the invoice of April be right?', { type: 'customer' }, 'inbound')
  await made('/tickets', {
    customerId: ada.id,
    conversationId: id,
    subject: 'Refund the second payment of invoice 2041',
    priority: 'high',
    assigneeId: maya.id,
  })
  return id
}
