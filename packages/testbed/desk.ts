/** Creates objects; each function returns the object as created. */
import type { Api } from './service.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever the object has; a wrong guess fails them
type Made = any

async function made(api: Api, path: string, body: object): Promise<Made> {
  const answer = await api.post(path, body)
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
  return answer.json
}

export const makeCustomer = (api: Api, body: object = { name: 'Ada' }): Promise<Made> =>
  made(api, '/v1/customers', body)

export const makeTeammate = (api: Api, body: object = { name: 'Grace' }): Promise<Made> =>
  made(api, '/v1/teammates', body)

/** Of `customerId`, or of a customer that it creates. */
export const makeTicket = async (api: Api, body: Readonly<Record<string, unknown>> = {}): Promise<Made> =>
  made(api, '/v1/tickets', {
    subject: 'Help',
    ...body,
    customerId: body.customerId ?? (await makeCustomer(api)).id,
  })

/** Of `customerId`, or of a customer that it creates. */
export const makeConversation = async (
  api: Api,
  body: Readonly<Record<string, unknown>> = {},
): Promise<Made> =>
  made(api, '/v1/conversations', {
    channel: 'email',
    ...body,
    customerId: body.customerId ?? (await makeCustomer(api)).id,
  })

/** Of `conversationId`, or of a conversation that it creates; by default inbound. */
export const makeMessage = async (api: Api, body: Readonly<Record<string, unknown>> = {}): Promise<Made> => {
  const { direction = 'inbound' } = body
  return made(api, '/v1/messages', {
    direction,
    author: { type: direction === 'inbound' ? 'customer' : 'ai' },
    body: 'Hello',
    ...body,
    conversationId: body.conversationId ?? (await makeConversation(api)).id,
  })
}

/** Of `conversationId`, or of a conversation that it creates. */
export const makeNote = async (api: Api, body: Readonly<Record<string, unknown>> = {}): Promise<Made> =>
  made(api, '/v1/notes', {
    author: { type: 'teammate' },
    body: 'Careful',
    ...body,
    conversationId: body.conversationId ?? (await makeConversation(api)).id,
  })

/** Of `customerId`, or of a customer that it creates. */
export const makeBooking = async (api: Api, body: Readonly<Record<string, unknown>> = {}): Promise<Made> =>
  made(api, '/v1/bookings', {
    title: 'Fitting',
    startAt: '2026-04-01T09:00:00.000Z',
    endAt: '2026-04-01T09:30:00.000Z',
    timezone: 'Europe/Berlin',
    ...body,
    customerId: body.customerId ?? (await makeCustomer(api)).id,
  })
