/** The SDK's types of every kind, from the declarations that validate and document them. */

import { errorCatalogue } from '../../packages/service/src/kernel/error-catalogue.ts'
import type { Field } from '../../packages/service/src/kernel/fields/field.ts'
import { version } from '../../packages/service/src/kernel/version.ts'
import { schemaName } from '../../packages/service/src/kinds/docs/kind-schemas.ts'
import { filterNames, listParameters } from '../../packages/service/src/kinds/http/list-query.ts'
import type { Kind } from '../../packages/service/src/kinds/model/kind.ts'
import type { QueryParameter } from '../../packages/service/src/openapi/api-module.ts'
import { rotationShape, webhookShapes } from '../../packages/service/src/webhooks/endpoints.ts'
import { createEventTypes, endpointEvents } from '../../packages/service/src/webhooks/event-types.ts'
import { logStatuses } from '../../packages/service/src/webhooks/functions.ts'
import {
  attemptFields,
  deliveryFields,
  hasteningFields,
  recoveryFields,
  statsFields,
  totalFields,
  webhookFields,
} from '../../packages/service/src/webhooks/records.ts'
import { recoveryShape } from '../../packages/service/src/webhooks/recovery/store.ts'
import { stepLengths } from '../../packages/service/src/webhooks/stats.ts'
import { actionTypes, resourceType } from './sdk-actions.ts'
import { acceptedMembers, member, shownMembers, typeText } from './sdk-type-text.ts'

export function sdkTypes(kinds: readonly Kind[]): string {
  return `/** Made by npm run generate from the declarations of the service: what belongs to one kind, and no more. */
import type { Erasure, Open, RemovalRecord, Row } from './envelope.ts'
import type { ActionOptions, CallOptions } from './options.ts'
import { ChangeableResource, Resource } from './resource.ts'
import type { Send } from './transport.ts'

/** The release of the service that this was made with. */
export const version = '${version}'

/** The codes of the service's errors (docs/reference/errors.md). */
export type ErrorCode = ${Object.keys(errorCatalogue)
    .map((code) => `'${code}'`)
    .join(' | ')}

${kinds.map((kind) => kindTypes(kind, kinds)).join('\n')}
/** A row of any kind. */
export type AnyRow = ${kinds.map(schemaName).join(' | ')}

/** What an event's \`data\` holds, by the event's type. */
export interface EventData {
${kinds.flatMap(eventLines).join('')}${Object.keys(endpointEvents)
  .map((type) => `  '${type}': Webhook\n`)
  .join('')}}

${webhookTypes(createEventTypes(kinds).names)}

/** The calls of every kind, by its plural. */
export const resources = (send: Send) => ({
${kinds.map(resourceLine).join('')}})
`
}

function resourceLine(kind: Kind): string {
  return `  ${kind.plural}: new ${resourceType(kind)}(send, '${kind.plural}'),\n`
}

function eventLines(kind: Kind): string[] {
  return Object.keys(kind.events).map(
    (type) => `  '${type}': ${type === kind.removedEvent ? 'RemovalRecord' : schemaName(kind)}\n`,
  )
}

function kindTypes(kind: Kind, kinds: readonly Kind[]): string {
  const name = schemaName(kind)
  const fields = Object.entries(kind.fields)
  const writable = fields.filter(([, field]) => field.access !== 'read')
  const shown = kind.representationOrder.map((field) => [field, kind.fields[field] as Field] as const)
  const parameters = listParameters(kind)
  return `/** ${kind.description} */
export interface ${name} extends Row {
  object: '${kind.name}'
${shown.map(([field, spec]) => member(field, spec, 'output', false)).join('')}}

export interface ${name}Input {
${writable.map(([field, spec]) => member(field, spec, 'input', spec.initial !== undefined)).join('')}}

${patchType(kind)}export interface ${name}Filters {
${filterNames(kind)
  .map((name) => filterMember(name, parameters[name]))
  .join('')}}
${actionTypes(kind, kinds)}`
}

/** A filter of a list, of what the query accepts. */
function filterMember(name: string, parameter: QueryParameter | undefined): string {
  if (parameter === undefined) throw new Error(`no parameter ${name}`)
  const { description, schema } = parameter
  return `  /** ${description} */\n  ${name}?: ${typeText(schema as Record<string, unknown>)} | undefined\n`
}

function patchType(kind: Kind): string {
  if (kind.immutable) return ''
  const writable = Object.entries(kind.fields).filter(([, spec]) => spec.access === 'write')
  return `export interface ${schemaName(kind)}Patch {
${writable.map(([field, spec]) => member(field, spec, 'input', true)).join('')}}

`
}

function webhookTypes(eventTypes: readonly string[]): string {
  const { creation, change } = webhookShapes(eventTypes)
  // The one place that lists the types is EventData.
  const byName = (members: string) =>
    members.replaceAll(eventTypes.map((type) => `'${type}'`).join(' | '), 'keyof EventData')
  const shown = (...of: Parameters<typeof shownMembers>) => byName(shownMembers(...of))
  const accepted = (...of: Parameters<typeof acceptedMembers>) => byName(acceptedMembers(...of))
  const ofRow = ['id', 'object', 'organizationId', 'createdAt', 'updatedAt']
  return `/** An endpoint that events are delivered to. */
export interface Webhook extends Row {
  object: 'webhook'
${shown(webhookFields(eventTypes), ofRow)}}

export interface WebhookInput {
${accepted(creation.fields, 'create')}}

export interface WebhookPatch {
${accepted(change.fields, 'patch')}}

export interface RotationInput {
${accepted(rotationShape.fields, 'create')}}

export interface WebhookFilters {
  status?: 'active' | 'disabled'
  createdAfter?: string
  createdBefore?: string
}

/** One event on its way to one endpoint. It never holds the payload. */
export interface Delivery extends Row {
  object: 'delivery'
${shown(deliveryFields, ofRow)}}

export interface DeliveryFilters {
  status?: ${logStatuses.map((status) => `'${status}'`).join(' | ')}
  eventType?: keyof EventData | 'ping'
  eventId?: string
  createdAfter?: string
  createdBefore?: string
}

export interface AllDeliveryFilters extends DeliveryFilters {
  webhookId?: string
}

/** One try of a delivery. */
export interface Attempt {
${shown(attemptFields)}}

/** What is counted in one step of time. */
export interface StatsPoint {
${shown(statsFields)}}

/** What is counted in all steps together. */
export interface StatsTotal {
${shown(totalFields)}}

export interface StatsRange {
  from?: string
  to?: string
  step?: ${Object.keys(stepLengths)
    .map((word) => `'${word}'`)
    .join(' | ')}
}

/** What \`retryNow\` made due at once. */
export interface RetriedNow {
  object: 'hastening'
${shown(hasteningFields, ['object'])}}

/** The replay of events that an endpoint missed. */
export interface Recovery {
  object: 'recovery'
${shown(recoveryFields, ['object'])}}

export interface RecoveryInput {
${accepted(recoveryShape.fields, 'create')}}
`
}
