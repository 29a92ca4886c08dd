/** Sends exactly the given request: only its length is added, and any method may have a body. */

import { request } from 'node:http'
import { readJson } from '@deskwire/sdk/json'
import type { Answer } from './service.ts'

export function rawRequest(
  url: string,
  method: string,
  headers: Readonly<Record<string, string | string[]>>,
  body: string | Uint8Array = '',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body.length === 0 ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const sent = request(
      url,
      { method, headers: { ...headers, ...length }, agent: false },
      async (response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk)
        const text = Buffer.concat(chunks).toString('utf8')
        const received = new Headers()
        for (const [name, value] of Object.entries(response.headers)) received.set(name, String(value))
        const isJson = received.get('content-type')?.includes('json') ?? false
        resolve({
          status: response.statusCode ?? 0,
          headers: received,
          text,
          json: isJson && text !== '' ? readJson(text) : null,
        })
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}
