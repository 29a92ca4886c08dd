/** Creates endpoints, and reads their deliveries. */
import { createHmac } from 'node:crypto'
import { verifySignature } from '@deskwire/sdk'
import Stripe from 'stripe'
import type { Sent } from './engine.ts'
import type { Api } from './service.ts'
import { verdictOf } from './verdict.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever the record has; a wrong guess fails them
type Made = any

/** Engines with scripts send nothing there. */
export const receiverUrl = 'https://127.0.0.1:1/hook'

export const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** As created, with its secret. */
export async function makeWebhook(
  api: Api,
  body: Readonly<Record<string, unknown>> = {},
  headers: Record<string, string> = {},
): Promise<Made> {
  const sent = { url: receiverUrl, events: ['customer.created'], ...body }
  const answer = await api.post('/v1/webhooks', sent, headers)
  if (answer.status !== 201) throw new Error(`POST /v1/webhooks: ${answer.status} ${answer.text}`)
  return answer.json
}

export async function readWebhook(api: Api, id: string): Promise<Made> {
  return (await api.get(`/v1/webhooks/${id}`)).json
}

/** Newest first. */
export async function deliveriesOf(api: Api, webhookId: string, query = ''): Promise<Made[]> {
  const answer = await api.get(`/v1/webhooks/${webhookId}/deliveries?limit=100${query}`)
  if (answer.status !== 200) throw new Error(`GET deliveries: ${answer.status} ${answer.text}`)
  return answer.json.data
}

/** Newest first. */
export async function attemptsOf(api: Api, delivery: { webhookId: string; id: string }): Promise<Made[]> {
  return (await api.get(`/v1/webhooks/${delivery.webhookId}/deliveries/${delivery.id}/attempts`)).json.data
}

export const retry = (
  api: Api,
  delivery: { webhookId: string; id: string },
  headers: Record<string, string> = {},
) => api.post(`/v1/webhooks/${delivery.webhookId}/deliveries/${delivery.id}/retry`, undefined, headers)

/** The bytes of `data`. */
export function dataOf({ body }: Pick<Sent, 'body'>): string {
  const at = body.indexOf(',"data":')
  return body.slice(at + ',"data":'.length, -1)
}

const { webhooks } = new Stripe('sk_test_unused')

/** The secrets whose signature is valid, by the SDK and by an independent implementation. */
export async function signedBy(sent: Sent, secrets: readonly string[]): Promise<string[]> {
  const header = sent.headers['x-service-signature'] ?? ''
  const good: string[] = []
  for (const secret of secrets) {
    const now = Math.floor(sent.at / 1000)
    const ours = await verdictOf(verifySignature(sent.body, sent.headers, secret, { now }))
    const theirs = accepts(() => webhooks.constructEvent(sent.body, header, secret, 300, undefined, sent.at))
    if (ours.ok !== theirs) throw new Error(`judged otherwise: ${header}`)
    if (ours.ok) good.push(secret)
  }
  return good
}

function accepts(check: () => unknown): boolean {
  try {
    check()
    return true
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError) return false
    throw error
  }
}

/** The signature of specification 10.2, without the service's code. */
export function expectedSignature({ at, body }: Sent, secrets: readonly string[]): string {
  const t = Math.floor(at / 1000)
  const v1 = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`,
  )
  return [`t=${t}`, ...v1].join(',')
}
