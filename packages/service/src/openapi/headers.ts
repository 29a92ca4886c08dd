/** All headers of responses; responses refer to them by name. */

import type { Json } from './api-module.ts'
import { exampleId, exampleTime } from './examples.ts'

const text = (description: string, example: string): Json => ({
  description,
  schema: { type: 'string', examples: [example] },
})

export const headerComponents: Readonly<Record<string, Json>> = {
  'X-Request-Id': text(
    'The id of this request: the one that was sent, or one that was made. Logs and problems have it.',
    'b1946ac9-2492-4d23-8a3e-3f1b5a1c5e0d',
  ),
  ETag: text(
    "The object's version: its `updatedAt` in quotes. For If-Match and If-None-Match.",
    `"${exampleTime}"`,
  ),
  Location: text('The path of the new object.', `/v1/webhooks/${exampleId(3)}`),
  'Idempotent-Replayed': text(
    'There, and `true`, when this is the stored response to an earlier request with the same Idempotency-Key.',
    'true',
  ),
  'Cache-Control': text(
    'How the answer may be kept. Below `/v1`: `private, no-cache`, or `no-store` where it holds a token or a secret.',
    'private, no-cache',
  ),
  'WWW-Authenticate': text('How to authenticate.', 'Bearer realm="deskwire"'),
  'RateLimit-Policy': text(
    'How often the key may call: `q` requests at once, which come back within `w` seconds. Not there where nothing is limited.',
    '"default";q=500;w=5',
  ),
  RateLimit: text(
    'The rest of the limit: `r` requests now, and all of them in `t` seconds.',
    '"default";r=499;t=1',
  ),
  'Retry-After': text('In how many seconds to send it again.', '1'),
}

export const limitHeaders = ['RateLimit-Policy', 'RateLimit']

export const answerHeaders = ['Cache-Control', ...limitHeaders]

/** Includes those of every response. */
export function headersOf(names: readonly string[]): Json {
  return Object.fromEntries(
    ['X-Request-Id', ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
}
