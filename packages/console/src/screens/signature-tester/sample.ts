/** A sample delivery: an event as the service sends it, signed now by a secret that is used nowhere else. */

import { signStandardWebhook, signWebhook } from '@deskwire/sdk'
import { readJson } from '@deskwire/sdk/json'

/** What the user has pasted. */
export interface Pasted {
  readonly headers: string
  readonly body: string
  readonly secrets: string
  /** The JSON of a key set, for the asymmetric signature. */
  readonly keys: string
}

const zero = '01980000-0000-7000-8000-'

export function sampleSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`
}

export function sampleBody(now: number): string {
  const createdAt = new Date(now).toISOString()
  return JSON.stringify({
    id: `${zero}000000000007`,
    type: 'customer.created',
    createdAt,
    organizationId: `${zero}000000000000`,
    data: {
      id: `${zero}000000000001`,
      object: 'customer',
      organizationId: `${zero}000000000000`,
      createdAt,
      name: 'Ada Lovelace',
      company: 'Analytical Engines',
      email: 'ada@example.com',
      phone: null,
      locale: null,
      timezone: null,
      externalId: null,
      tags: [],
      customAttributes: {},
      updatedAt: createdAt,
    },
  })
}

/**
 * Both headers for this body, signed by the secrets at this time (milliseconds). Throws TypeError for a secret that
 * cannot sign.
 */
export async function signed(body: string, secrets: readonly string[], now: number): Promise<string> {
  const timestamp = Math.floor(now / 1000)
  const [service, standard] = await Promise.all([
    signWebhook(body, secrets, { timestamp }),
    signStandardWebhook(eventId(body), body, secrets, { timestamp }),
  ])
  const lines = [['X-Service-Signature', service], ...Object.entries(standard)]
  return lines.map(([name, value]) => `${name}: ${value}`).join('\n')
}

/** Of an event; any other body gets one that says so. */
function eventId(body: string): string {
  try {
    const { id } = readJson<{ id?: unknown }>(body)
    return typeof id === 'string' && id !== '' ? id : 'sample'
  } catch {
    return 'sample'
  }
}
