/** A desk as one finds it in the middle of a day: people, what they said, what is open, and what is booked. */
import {
  makeBooking,
  makeConversation,
  makeCustomer,
  makeMessage,
  makeTeammate,
  makeTicket,
} from '../../testbed/desk.ts'
import type { Api } from '../../testbed/service.ts'

interface Desk {
  // biome-ignore lint/suspicious/noExplicitAny: as the service answered
  readonly [name: string]: any
}

export async function makeDesk(api: Api): Promise<Desk> {
  const grace = await makeTeammate(api, { name: 'Grace Hopper', email: 'grace@example.com' })
  const joan = await makeTeammate(api, { name: 'Joan Clarke', email: 'joan@example.com' })
  const ada = await makeCustomer(api, {
    name: 'Ada Lovelace',
    company: 'Analytical Engines',
    email: 'ada@example.com',
    phone: '+442071234567',
    timezone: 'Europe/London',
    tags: ['vip'],
    customAttributes: { plan: 'scale', seats: 12 },
  })
  const mary = await makeCustomer(api, { name: 'Mary Somerville', email: 'mary@example.com' })
  const parcel = await makeConversation(api, { customerId: ada.id, subject: 'Where is my parcel?' })
  await makeMessage(api, {
    conversationId: parcel.id,
    body: 'Hello,\nmy parcel was to come on Monday. It did not. Where is it?',
  })
  await makeMessage(api, {
    conversationId: parcel.id,
    direction: 'outbound',
    author: { type: 'teammate', id: grace.id },
    body: 'I am asking the carrier, and write to you within the hour.',
  })
  const asked = await makeMessage(api, { conversationId: parcel.id, body: 'Thank you. It is number 1843.' })
  const bot = await makeConversation(api, {
    customerId: mary.id,
    subject: 'Opening hours in December',
    channel: 'chat',
    handledBy: 'ai',
  })
  await makeMessage(api, { conversationId: bot.id, body: 'Are you open on the 24th?' })
  const invoice = await makeConversation(api, {
    customerId: mary.id,
    subject: 'A copy of the invoice',
    assigneeId: joan.id,
  })
  const ticket = await makeTicket(api, {
    customerId: ada.id,
    conversationId: parcel.id,
    subject: 'Parcel 1843 is lost',
    description: 'The carrier has no trace of it since Friday.\nSend another one.',
    priority: 'high',
    assigneeId: grace.id,
    tags: ['shipping'],
  })
  await makeTicket(api, { customerId: mary.id, subject: 'Wrong address on the invoice' })
  const fitting = await makeBooking(api, {
    customerId: ada.id,
    title: 'Fitting',
    ...thisWeek(2, 10, 1),
    timezone: 'Europe/London',
    assigneeId: grace.id,
    notes: 'Brings her own instruments.',
  })
  const survey = await makeBooking(api, {
    customerId: mary.id,
    title: 'Survey of the roof',
    ...thisWeek(2, 10.5, 1.5),
    timezone: 'Europe/London',
    status: 'confirmed',
  })
  await makeBooking(api, {
    customerId: mary.id,
    title: 'Call about the offer',
    ...thisWeek(4, 15, 0.5),
    timezone: 'Europe/Berlin',
    status: 'confirmed',
  })
  return { grace, joan, ada, mary, parcel, asked, bot, invoice, ticket, fitting, survey }
}

/** Times on a day of this week, 0 being its Monday; UTC, as the calendar of London is in winter. */
function thisWeek(day: number, hour: number, hours: number): { startAt: string; endAt: string } {
  const now = new Date()
  const monday = now.getUTCDate() - ((now.getUTCDay() + 6) % 7)
  const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), monday + day) + hour * 3_600_000
  return {
    startAt: new Date(start).toISOString(),
    endAt: new Date(start + hours * 3_600_000).toISOString(),
  }
}
