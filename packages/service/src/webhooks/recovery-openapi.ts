/** What `recovery-routes.ts` serves, for the document. */
import { pageParameters } from '../http/list-openapi.ts'
import { exampleId, exampleList, exampleTime } from '../openapi/examples.ts'
import { type ApiPart, type Operation, pageOf, ref } from '../openapi/part.ts'
import { inputs } from '../resource/kind-schemas.ts'
import { recordSchema } from '../resource/shown-field.ts'
import { operation } from './endpoint-openapi.ts'
import { recoveryShape } from './fields.ts'
import { recoveryFields } from './records.ts'

/** The day before that of the examples. */
const exampleSince = '2026-01-30T09:30:00.000Z'

const exampleRunning = {
  id: exampleId(7),
  object: 'recovery',
  webhookId: exampleId(5),
  since: exampleSince,
  until: exampleTime,
  status: 'running',
  retried: 0,
  created: 0,
  createdAt: exampleTime,
  finishedAt: null,
}

const exampleDone = {
  ...exampleRunning,
  status: 'done',
  retried: 12,
  created: 340,
  finishedAt: '2026-01-31T09:30:02.000Z',
}

const operations: readonly Operation[] = [
  {
    ...operation('post', 'recoverWebhook', 'Bring back what an endpoint has missed', '/{id}/recover'),
    description:
      'For every event of a subscribed type in the window: a failed delivery is sent again, with its stored payload; a missing one is made, and reads anew; what is pending or has succeeded is left. Goes on by itself: read the recovery to see how far it is. Needs the read scope of every subscribed type as well.',
    body: 'RecoveryCreate',
    answers: {
      202: {
        description: 'The recovery, running.',
        schema: ref('Recovery'),
        examples: { running: exampleRunning },
      },
    },
    errors: ['not_found', 'webhook_disabled'],
    once: true,
  },
  {
    ...operation('get', 'listRecoveries', "An endpoint's recoveries, newest first", '/{id}/recoveries'),
    parameters: pageParameters,
    answers: {
      200: {
        description: 'A page of recoveries.',
        schema: pageOf('Recovery'),
        examples: { page: exampleList(exampleDone) },
      },
    },
    errors: ['not_found'],
  },
  {
    ...operation('get', 'getRecovery', 'Read how far a recovery is', '/{id}/recoveries/{recoveryId}'),
    answers: {
      200: { description: 'The recovery.', schema: ref('Recovery'), examples: { done: exampleDone } },
    },
    errors: ['not_found'],
  },
]

/** Recoveries. */
export const recoveryPart: ApiPart = {
  tags: [],
  operations,
  schemas: {
    Recovery: recordSchema('The return of what an endpoint has missed.', recoveryFields, exampleDone),
    RecoveryCreate: {
      type: 'object',
      additionalProperties: false,
      required: ['since'],
      properties: inputs(Object.entries(recoveryShape.fields)),
      examples: [{ since: exampleSince }],
    },
  },
}
