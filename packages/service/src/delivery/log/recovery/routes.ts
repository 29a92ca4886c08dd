/**
 * The routes of recoveries: replaying the events that an endpoint has missed, and the progress (specification 11.4).
 */
import { dryRunnable, paging } from '../../../http/list-parameters.ts'
import { pageBody } from '../../../http/replies.ts'
import { noSuch } from '../../../kernel/errors.ts'
import { newIdAt, parseId } from '../../../kernel/ids.ts'
import { done, outcomeOf, refused } from '../../../kernel/outcome.ts'
import type { Clock } from '../../../kernel/timestamps.ts'
import {
  type ApiModule,
  exampleId,
  exampleList,
  exampleTime,
  pageOf,
  ref,
  routesOf,
} from '../../../openapi/api-module.ts'
import { creationBody, recordSchema } from '../../../openapi/field-schemas.ts'
import { type Endpoints, webhookDisabled } from '../../endpoint/endpoints.ts'
import type { EventTypes } from '../../endpoint/event-types.ts'
import { recoveryFields } from '../../endpoint/records.ts'
import { reading, webhookOf, writing } from '../../endpoint/routes.ts'
import { sealResponse, type Vault } from '../../endpoint/vault.ts'
import { type RecoveryRow, recoveryRecord } from '../../endpoint/webhook.ts'
import { parseWindow, type RecoveryStore, recoveryShape, type Window } from './store.ts'

interface RecoveryServices {
  readonly endpoints: Endpoints
  readonly recoveries: RecoveryStore
  readonly eventTypes: EventTypes
  readonly vault: Vault
  readonly clock: Clock
  readonly retention: number
  readonly wake: () => void
}

const route = routesOf<RecoveryServices>()

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

const recoverWebhook = route({
  ...writing,
  method: 'post',
  path: '/v1/webhooks/{id}/recover',
  id: 'recoverWebhook',
  summary: 'Bring back what an endpoint has missed',
  description:
    'For every event of a subscribed type in the window: a failed delivery is sent again, with its stored payload; a missing one is made, and reads anew. Pending and succeeded ones stay as they are; with `includeSucceeded`, succeeded ones are sent again. Goes on by itself: read the recovery to see how far it is. Needs the read scope of every subscribed type as well.',
  query: dryRunnable,
  body: 'RecoveryCreate',
  once: true,
  answers: {
    202: {
      description: 'The recovery, running.',
      schema: ref('Recovery'),
      examples: () => ({ running: exampleRunning }),
    },
  },
  errors: ['not_found', 'webhook_disabled'],
  async handle(services, call) {
    const { caller, params, body, record } = call
    const asked = call.query()
    if (!asked.ok) return refused(asked.error)
    const { endpoints, recoveries, eventTypes, vault, clock, retention, wake } = services
    const { organizationId, scopes } = caller
    const webhook = await webhookOf(endpoints, caller, params)
    if (!webhook.ok) return refused(webhook.error)
    const { id: webhookId, events, status } = webhook.value
    const unreadable = eventTypes.unreadable(scopes, events)
    if (unreadable !== null) return refused(unreadable)
    const now = clock.now()
    // Stamps may be ahead of the clock, and a window without an end must include every event so far.
    const latest = Math.max(now, await recoveries.latest(organizationId))
    const window = parseWindow(body, {
      now,
      latest,
      retention,
      registeredAt: webhook.value.created_at.getTime(),
    })
    if (!window.ok) return refused(window.error)
    // With an Idempotency-Key the database decides: an identical request may have begun this recovery already.
    if (record === null && status === 'disabled') return refused(webhookDisabled(webhook.value, 'recover'))
    const begun = newRecovery(webhookId, window.value, now)
    const answer = JSON.stringify(recoveryRecord(begun))
    if (asked.value.dryRun) return done(answer)
    const response = await sealResponse(vault, { organizationId, webhookId }, record, answer)
    const recovery = { ...window.value, webhookId, id: begun.id }
    const outcome = await recoveries.begin(organizationId, recovery, { now, response })
    if (outcome === 'refused') {
      const meanwhile = await webhookOf(endpoints, caller, params)
      return refused(meanwhile.ok ? webhookDisabled(meanwhile.value, 'recover') : meanwhile.error)
    }
    if (outcome === 'done') wake()
    return outcomeOf(outcome, answer, {})
  },
})

const listRecoveries = route({
  ...reading,
  method: 'get',
  path: '/v1/webhooks/{id}/recoveries',
  id: 'listRecoveries',
  summary: "An endpoint's recoveries, newest first",
  query: paging,
  answers: {
    200: {
      description: 'A page of recoveries.',
      schema: ref('RecoveryPage'),
      examples: () => ({ page: exampleList(exampleDone) }),
    },
  },
  errors: ['not_found'],
  async handle({ endpoints, recoveries }, call) {
    const page = call.query()
    if (!page.ok) return refused(page.error)
    const webhook = await webhookOf(endpoints, call.caller, call.params)
    if (!webhook.ok) return refused(webhook.error)
    const found = await recoveries.list(call.caller.organizationId, webhook.value.id, page.value)
    return done(pageBody(found, page.value, recoveryRecord))
  },
})

const readRecovery = route({
  ...reading,
  method: 'get',
  path: '/v1/webhooks/{id}/recoveries/{recoveryId}',
  id: 'getRecovery',
  summary: 'Read how far a recovery is',
  answers: {
    200: {
      description: 'The recovery.',
      schema: ref('Recovery'),
      examples: () => ({ done: exampleDone }),
    },
  },
  errors: ['not_found'],
  async handle({ endpoints, recoveries }, { caller, params }) {
    const webhook = await webhookOf(endpoints, caller, params)
    if (!webhook.ok) return refused(webhook.error)
    const id = parseId(params.recoveryId)
    const row = id === null ? null : await recoveries.read(caller.organizationId, webhook.value.id, id)
    const why = 'It is of another webhook, or was done before the log begins.'
    return row === null ? refused(noSuch('recovery', params.recoveryId, why)) : done(recoveryRecord(row))
  },
})

export const recoveryApi = {
  tags: [],
  routes: [recoverWebhook, listRecoveries, readRecovery],
  schemas: () => ({
    Recovery: recordSchema('The replay of events that an endpoint missed.', recoveryFields, exampleDone),
    RecoveryPage: pageOf(ref('Recovery')),
    RecoveryCreate: creationBody(Object.entries(recoveryShape.fields), { since: exampleSince }),
  }),
} satisfies ApiModule

function newRecovery(webhookId: string, window: Window, now: number): RecoveryRow {
  return {
    id: newIdAt(now),
    webhook_id: webhookId,
    since: new Date(window.since),
    until: new Date(window.until),
    include_succeeded: window.includeSucceeded,
    retried: 0,
    created: 0,
    created_at: new Date(now),
    finished_at: null,
  }
}
