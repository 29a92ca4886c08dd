/** After a conversation is resolved: the next one, a way back, and nothing over what is pressed next. */
import { expect, test } from 'vitest'
import { makeConversation, makeMessage } from '../../testbed/desk.ts'
import { consoleBench } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()

test.each([1280, 390])(
  'resolving leads to the next who waits, and can be undone, at %d pixels',
  async (width) => {
    const api = await bench().service.newOrganization('Next')
    const ids: string[] = []
    for (const subject of ['First', 'Second', 'Third']) {
      const { id } = await makeConversation(api, { subject })
      await makeMessage(api, { conversationId: id, body: `The ${subject.toLowerCase()} question` })
      ids.push(id)
    }
    const { page, audit } = await bench().open(api, '/inbox', { width })
    await page.getByRole('link', { name: 'Second' }).click()
    await page.getByRole('heading', { name: 'Second' }).waitFor()
    await page.getByText('The second question').last().waitFor()
    await page.getByRole('button', { name: 'Resolve', exact: true }).click()
    const toast = page.getByRole('status').filter({ hasText: 'Conversation resolved' })
    await toast.getByRole('button', { name: 'Undo' }).waitFor()
    await page.getByRole('heading', { name: 'Third' }).waitFor()
    await settled(page)
    await audit()
    // What is pressed next is not under the toast.
    const send = await page.getByRole('button', { name: 'Send', exact: true }).boundingBox()
    const over = await toast.getByText('Conversation resolved').boundingBox()
    expect((over?.y ?? 999) + (over?.height ?? 999)).toBeLessThan(send?.y ?? 0)
    const status = async (n: number) => (await api.get(`/v1/conversations/${ids[n]}`)).json.status
    expect(await status(1)).toBe('resolved')
    await toast.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Conversation reopened').waitFor()
    expect(await status(1)).toBe('open')
    // Undo leads back to the conversation that it reopened.
    await page.getByRole('heading', { name: 'Second' }).waitFor()
    await page.goBack()
    // The last one leads to the one before it.
    await page.getByText('The third question').last().waitFor()
    await page.getByRole('button', { name: 'Resolve', exact: true }).click()
    await page.getByRole('heading', { name: 'Second' }).waitFor()
    expect(await status(2)).toBe('resolved')
    expect(await status(0)).toBe('open')
  },
)
