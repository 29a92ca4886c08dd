/** The routes of the organization that a key belongs to: any key reads it, one that manages keys changes it. */
import type { FastifyInstance } from 'fastify'
import type { TokenDirectory } from '../access/admission.ts'
import { managingScope } from '../access/scopes.ts'
import { callerOf, requireKey, requireScope } from '../http/authenticate.ts'
import { answer, expectAnswer } from '../http/outcome.ts'
import { sendJson } from '../http/replies.ts'
import type { Organizations } from './organization.ts'

export const organizationPath = '/v1/organization'

export function registerOrganizationRoutes(
  server: FastifyInstance,
  organizations: Organizations,
  { directory }: { readonly directory: TokenDirectory },
): void {
  server.get(organizationPath, { onRequest: requireKey(directory) }, async (request, reply) =>
    sendJson(reply, JSON.stringify(await organizations.read(callerOf(request).organizationId))),
  )

  server.patch(
    organizationPath,
    { onRequest: requireScope(directory, managingScope) },
    async (request, reply) => {
      const changed = await organizations.change(callerOf(request).organizationId, request.body)
      return expectAnswer(answer(reply, changed, sendJson))
    },
  )
}
