/**
 * What one organization can do at full force. Each attack has a number of connections, all busy all the time; what is
 * lawful has to be done, and the rest refused, at nobody else's cost.
 */

import type { EmbeddedConnection } from '../../packages/embedded-postgres/src/index.ts'
import { newToken } from '../../packages/service/src/auth/token.ts'
import type { PlainRequest } from './plain-client.ts'

/** An organization that `prepareAttacker` has prepared. */
export interface Arms {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  /** Several, as a limit of each key would otherwise stop them. */
  readonly tokens: readonly string[]
  readonly webhookIds: readonly string[]
  readonly customerIds: readonly string[]
  /** The service's database. */
  readonly connection: EmbeddedConnection
}

export type AttackName = keyof typeof attacks

interface Attack {
  readonly connections: number
  /** The next request of connection `n`. */
  request(arms: Arms, n: number): PlainRequest
  /** Sends all but the end of each request, and waits. */
  readonly holds?: true
  /** Reads no response. */
  readonly deaf?: true
  /** Sends each request whole, and disconnects. */
  readonly disconnects?: true
  /** Has to be done: as much next to other tenants as alone, apart from what they use. Without rate limit. */
  readonly lawful?: true
  /**
   * In addition, creates and deletes a customer with so many tickets every `apart` milliseconds: no more than a worker can deliver, so that
   * the load ends with the measurement.
   */
  readonly deletes?: { readonly tickets: number; readonly apart: number }
  /** Asks the service nothing, and uses as much of the CPU: so many busy threads, and statements that read nothing. */
  readonly foreign?: { readonly threads: number; readonly statements: number }
}

const attacks = {
  'unknown fields': {
    connections: 16,
    request: (arms, n) => post(arms, n, '/v1/customers', bodies.unknownFields()),
  },
  'hollow batches': {
    connections: 6,
    request: (arms, n) => post(arms, n, '/v1/customers/batch', bodies.hollowBatch()),
  },
  'wrong batches': {
    connections: 6,
    request: (arms, n) => post(arms, n, '/v1/customers/batch', bodies.wrongBatch()),
  },
  'single changes': {
    connections: 16,
    lawful: true,
    request: ({ tokens, customerIds }, n) => ({
      method: 'PATCH',
      path: `/v1/customers/${customerIds[n % customerIds.length]}`,
      headers: { ...authorization(tokens, n), 'content-type': 'application/json' },
      body: `{"name":"Ada ${changes++}"}`,
    }),
  },
  'pages of the stream': {
    connections: 8,
    lawful: true,
    request: (arms, n) => get(arms, n, '/v1/customers?updatedAfter=1970-01-01T00:00:00Z&limit=100'),
  },
  'batches of 500': {
    connections: 2,
    lawful: true,
    request: (arms, n) => post(arms, n, '/v1/customers/batch', bodies.importBatch()),
  },
  'disconnecting batches': {
    connections: 6,
    disconnects: true,
    request: (arms, n) => post(arms, n, '/v1/customers/batch', bodies.wideBatch()),
  },
  'lawful batches': {
    connections: 6,
    lawful: true,
    request: (arms, n) => post(arms, n, '/v1/customers/batch', bodies.lawfulBatch()),
  },
  'batches with a refused key': {
    connections: 6,
    request: (arms, n) =>
      post({ ...arms, tokens: ['dwk_refused'] }, n, '/v1/customers/batch', bodies.lawfulBatch()),
  },
  'slow bodies': {
    connections: 60,
    holds: true,
    request: (arms, n) => post(arms, n, '/v1/customers/batch', bodies.lawfulBatch()),
  },
  searches: {
    connections: 36,
    lawful: true,
    request: (arms, n) => get(arms, n, `/v1/customers?q=${n % 6 === 0 ? manyWords : fewWords}`),
  },
  'unread answers': {
    connections: 40,
    deaf: true,
    request: (arms, n) => get(arms, n, '/v1/tickets?limit=100'),
  },
  'a deletion and pings': {
    connections: 30,
    lawful: true,
    deletes: { tickets: 200, apart: 5_000 },
    request: (arms, n) =>
      post(arms, n, `/v1/webhooks/${arms.webhookIds[n % arms.webhookIds.length]}/ping`, ''),
  },
  'unknown keys': {
    connections: 64,
    request: (arms, n) => get({ ...arms, tokens: [newToken()] }, n, '/v1/customers'),
  },
  'metrics and readiness': {
    connections: 30,
    request: (_arms, n) => ({ method: 'GET', path: n % 2 === 0 ? '/metrics' : '/readyz', headers: {} }),
  },
  'a foreign load': {
    connections: 0,
    request: () => {
      throw new Error('a foreign load has no requests')
    },
    foreign: { threads: 1, statements: 4 },
  },
} satisfies Record<string, Attack>

export const attackNames = Object.keys(attacks) as AttackName[]

export function attackOf(name: AttackName): Attack {
  return attacks[name]
}

let changes = 0

const letters = Array.from('abcdefghijklmnopqrstuvwxyz')
const fewWords = letters.slice(0, 16).join('+')
const manyWords = Array.from({ length: 200 }, (_, n) => letters[n % letters.length]).join('+')

function get({ tokens }: Arms, n: number, path: string): PlainRequest {
  return { method: 'GET', path, headers: authorization(tokens, n) }
}

function post({ tokens }: Arms, n: number, path: string, body: string): PlainRequest {
  return {
    method: 'POST',
    path,
    headers: { ...authorization(tokens, n), 'content-type': 'application/json' },
    body,
  }
}

function authorization(tokens: readonly string[], n: number): Record<string, string> {
  return { authorization: `Bearer ${tokens[n % tokens.length]}` }
}

const mebibyte = 1024 * 1024

/** Made on first use, as the parent of the attacker's process has no use for them. */
const bodies = {
  unknownFields: once(() => {
    const fields = Array.from({ length: 85_000 }, (_, n) => `"x${n}":1`)
    return `{${fields.join(',')}}`
  }),
  hollowBatch: once(() => `{"items":[${'{},'.repeat((16 * mebibyte) / 3 - 16)}{}]}`),
  wrongBatch: once(() => {
    const item = `{${Array.from({ length: 1_700 }, (_, n) => `"x${n}":1`).join(',')}}`
    return `{"items":[${Array.from({ length: 1_000 }, () => item).join(',')}]}`
  }),
  importBatch: once(() =>
    JSON.stringify({
      items: Array.from({ length: 500 }, (_, n) => ({ name: `Ada ${n}`, tags: ['import'] })),
    }),
  ),
  wideBatch: once(() => {
    const items = Array.from({ length: 14 }, () => ({
      name: 'Ada',
      customAttributes: { note: 'y'.repeat(480) },
    }))
    const room = ' '.repeat(mebibyte - 1_024)
    return `{"items":[${items.map((item) => `${JSON.stringify(item).slice(0, -1)}${room}}`).join(',')}]}`
  }),
  lawfulBatch: once(() => {
    const customAttributes = Object.fromEntries(
      Array.from({ length: 8 }, (_, n) => [`note${n}`, 'y'.repeat(480)]),
    )
    const items = Array.from({ length: 1_000 }, (_, n) => ({ name: `Ada ${n}`, customAttributes }))
    return JSON.stringify({ items })
  }),
}

function once(make: () => string): () => string {
  let made: string | undefined
  return () => {
    made ??= make()
    return made
  }
}
