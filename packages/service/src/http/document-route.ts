/** `/openapi.json`: made for the first client, and cached. */

import { type ApiModule, routesOf } from '../openapi/api-module.ts'
import { openApiDocument } from '../openapi/document.ts'
import { first, sendVersioned, type Versioned, versioned } from './static-content.ts'

export function createDocument(parts: () => readonly ApiModule[]): () => Promise<Versioned> {
  return first(async () => {
    const document = JSON.stringify(await openApiDocument(parts()))
    return versioned(Buffer.from(document), 'application/json; charset=utf-8')
  })
}

const route = routesOf<() => Promise<Versioned>>()({
  method: 'get',
  path: '/openapi.json',
  id: 'getOpenApi',
  tag: 'service',
  summary: 'This document',
  access: 'public',
  answers: {
    200: { description: 'This document.', schema: { type: 'object' }, headers: ['Cache-Control'] },
    304: {
      description: 'Not changed: If-None-Match names the current version.',
      headers: ['Cache-Control'],
    },
  },
  handle: async (document, { request, reply }) => sendVersioned(request, reply, await document()),
})

export const documentApi = { tags: [], routes: [route] } satisfies ApiModule
