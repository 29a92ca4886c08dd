/** What a receiver that verifies by Standard Webhooks is sent, and what it has to answer, whatever it is written in. */
import { testDelivery } from '../src/testing.ts'

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
const [older, other] = [secretOf(2), secretOf(3)]

/** Of the two that the receiver knows, separated by commas. */
export const receiverSecrets = `${secretOf(1)},${older}`

/** Sends each delivery to the receiver, and tells which were answered otherwise than they should be: none, if it is right. */
export const wrongAnswers = async (url: string): Promise<string[]> => {
  const event = { type: 'ticket.created', data: { subject: 'Zoë ☕' } } as const
  const both = { signatures: ['service', 'standard'] } as const
  const late = Math.floor(Date.now() / 1000) - 400
  const good = await testDelivery(event, secretOf(1), both)
  const deliveries: [what: string, expected: number, delivery: RequestInit][] = [
    ['signed', 204, good],
    ['sent again', 204, good],
    ['signed with the replaced secret', 204, await testDelivery(event, older, both)],
    ['signed with both', 204, await testDelivery(event, receiverSecrets.split(','), both)],
    ['signed with a third and the replaced secret', 204, await testDelivery(event, [other, older], both)],
    ['signed with another secret', 400, await testDelivery(event, other, both)],
    ['late', 400, await testDelivery(event, older, { ...both, timestamp: late })],
    ['altered', 400, { ...good, body: good.body.replace('Zoë', 'Zoe') }],
    ['of another event', 400, { ...good, headers: { ...good.headers, 'webhook-id': 'another' } }],
    ['with the own header alone', 400, await testDelivery(event, older)],
  ]
  const wrong: string[] = []
  for (const [what, expected, delivery] of deliveries) {
    const { status } = await fetch(url, delivery)
    if (status !== expected) wrong.push(`${what}: ${status}, not ${expected}`)
  }
  return wrong
}
