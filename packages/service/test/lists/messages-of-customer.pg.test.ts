/** The list of one customer's messages, whichever conversation they are in. */
import { expect, test } from 'vitest'
import { makeConversation, makeCustomer, makeMessage } from '../../../testbed/desk.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const shared = sharedService()

test('messages are listed by customer, over all conversations, and not after the customer is deleted', async () => {
  const api = await shared().newOrganization()
  const { id: customerId } = await makeCustomer(api)
  const mine = []
  for (let n = 0; n < 2; n++) {
    const { id: conversationId } = await makeConversation(api, { customerId })
    mine.unshift((await makeMessage(api, { conversationId })).id)
  }
  await makeMessage(api)
  const listed = async (query = '') => (await api.get(`/v1/messages?customerId=${customerId}${query}`)).json
  const { data, pagination } = await listed()
  expect([data.map(({ id }: { id: string }) => id), pagination.total]).toEqual([mine, 2])
  expect((await listed('&direction=outbound')).data).toEqual([])
  await api.delete(`/v1/customers/${customerId}`)
  expect((await listed()).data).toEqual([])
})
