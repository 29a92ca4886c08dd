/** Any key reads its organization; a key that manages keys changes it. */

import { managingScope } from '../auth/scopes.ts'
import { done } from '../kernel/outcome.ts'
import { type ApiModule, exampleId, exampleTime, ref, routesOf } from '../openapi/api-module.ts'
import { patchBody, recordSchema } from '../openapi/field-schemas.ts'
import { type Organizations, organizationFields, organizationShape } from './organization.ts'

const route = routesOf<Organizations>()

const readOrganization = route({
  method: 'get',
  path: '/v1/organization',
  id: 'getOrganization',
  client: 'organization.get',
  tag: 'organization',
  summary: 'Read the organization',
  access: 'any key',
  answers: { 200: { description: 'The organization.', schema: ref('Organization') } },
  handle: async ({ read }, { caller }) => done(await read(caller.organizationId)),
})

const renameOrganization = route({
  method: 'patch',
  path: '/v1/organization',
  id: 'updateOrganization',
  tag: 'organization',
  summary: 'Change the organization',
  access: managingScope,
  body: 'OrganizationPatch',
  answers: { 200: { description: 'The organization.', schema: ref('Organization') } },
  handle: ({ change }, { caller, body }) => change(caller.organizationId, body),
})

export const organizationApi = {
  tags: [
    { name: 'organization', description: 'The owner of a key, and of everything that the key can reach.' },
  ],
  routes: [readOrganization, renameOrganization],
  schemas: () => ({
    Organization: recordSchema('The owner of everything that a key can reach.', organizationFields, {
      id: exampleId(0),
      object: 'organization',
      name: 'Analytical Engines',
      preventDoubleBooking: false,
      createdAt: exampleTime,
      updatedAt: exampleTime,
    }),
    OrganizationPatch: patchBody(Object.entries(organizationShape.fields), {
      name: 'Analytical Engines, Ltd.',
      preventDoubleBooking: true,
    }),
  }),
} satisfies ApiModule
