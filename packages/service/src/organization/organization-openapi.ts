/** What `routes.ts` serves of the organization, for the document. */
import { managingScope } from '../access/scopes.ts'
import { exampleId, exampleTime } from '../openapi/examples.ts'
import { type ApiPart, ref } from '../openapi/part.ts'
import { inputs } from '../resource/kind-schemas.ts'
import { recordSchema } from '../resource/shown-field.ts'
import { organizationFields, organizationShape } from './record.ts'

const shared = { path: '/v1/organization', tag: 'organization' } as const
const answers = { 200: { description: 'The organization.', schema: ref('Organization') } }

export const organizationPart: ApiPart = {
  tags: [
    { name: 'organization', description: 'What a key belongs to, and what owns all that it can reach.' },
  ],
  operations: [
    {
      ...shared,
      method: 'get',
      id: 'getOrganization',
      summary: 'Read the organization',
      access: 'any key',
      answers,
    },
    {
      ...shared,
      method: 'patch',
      id: 'updateOrganization',
      summary: 'Rename the organization',
      access: managingScope,
      body: 'OrganizationPatch',
      answers,
    },
  ],
  schemas: {
    Organization: recordSchema('What owns everything that a key can reach.', organizationFields, {
      id: exampleId(0),
      object: 'organization',
      name: 'Analytical Engines',
      createdAt: exampleTime,
      updatedAt: exampleTime,
    }),
    OrganizationPatch: {
      type: 'object',
      additionalProperties: false,
      description: 'Fields left out stay as they are.',
      properties: inputs(Object.entries(organizationShape.fields)),
      examples: [{ name: 'Analytical Engines, Ltd.' }],
    },
  },
}
