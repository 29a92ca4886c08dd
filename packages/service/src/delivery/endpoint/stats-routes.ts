import type { Caller } from '../../auth/authenticator.ts'
import { grants } from '../../auth/scopes.ts'
import type { Database } from '../../db/fair-pool.ts'
import { time, word } from '../../http/list-parameters.ts'
import { problem } from '../../kernel/errors.ts'
import { done, type Outcome, refused } from '../../kernel/outcome.ts'
import type { Clock } from '../../kernel/timestamps.ts'
import type { Kind } from '../../kinds/model/kind.ts'
import { type ApiModule, exampleTime, ref, routesOf } from '../../openapi/api-module.ts'
import { recordSchema } from '../../openapi/field-schemas.ts'
import type { DeliverySchedule } from '../model.ts'
import type { Endpoints } from './endpoints.ts'
import { statsFields, totalFields } from './records.ts'
import { reading, webhookOf } from './routes.ts'
import { defaultSteps, maxSteps, readStats, type StepsQuery, stepLengths, stepsOf } from './stats.ts'

interface StatsServices {
  readonly endpoints: Endpoints
  readonly database: Pick<Database, 'ofLong'>
  readonly clock: Clock
  readonly retention: number
  readonly schedule: Pick<DeliverySchedule, 'answerTimeout'>
}

const route = routesOf<StatsServices>()

const query = {
  from: time(`The first step holds it; ${defaultSteps} steps before the last unless given.`),
  to: time('The last step ends with it, or holds it; now unless given.'),
  step: word(Object.keys(stepLengths), `How long steps are, at most ${maxSteps} of them; 1m unless given.`),
}

const shared = {
  ...reading,
  method: 'get',
  query,
  answers: {
    200: {
      description: 'Every step, the earliest first.',
      schema: ref('Stats'),
      examples: () => ({ steps: { data: [examplePoint, quietPoint], total: exampleTotal } }),
    },
  },
} as const

export function statsApi(kinds: readonly Kind[]) {
  const organizationStats = route({
    ...shared,
    path: '/v1/stats',
    id: 'getStats',
    client: 'deliveries.stats',
    summary: 'Results of deliveries, and changes, in steps of time',
    description:
      'Steps are whole, in UTC: none before the one that the delivery log begins in, none after now. Changes are of the kinds that the key may read, each object where its latest change is.',
    async handle(services, call) {
      const query = call.query()
      if (!query.ok) return refused(query.error)
      return answer(services, call.caller, null, kinds, query.value, call.request.disconnected)
    },
  })

  const endpointStats = route({
    ...shared,
    path: '/v1/webhooks/{id}/stats',
    id: 'getWebhookStats',
    summary: "Results of an endpoint's deliveries in steps of time",
    description:
      'As GET /v1/stats. Changes are of the kinds that it is subscribed to and the key may read, whether or not the endpoint got them.',
    errors: ['not_found'],
    async handle(services, call) {
      const query = call.query()
      if (!query.ok) return refused(query.error)
      const webhook = await webhookOf(services.endpoints, call.caller, call.params)
      if (!webhook.ok) return refused(webhook.error)
      const { id, events } = webhook.value
      const subscribed = kinds.filter((kind) =>
        Object.keys(kind.events).some((type) => events.includes(type)),
      )
      return answer(services, call.caller, id, subscribed, query.value, call.request.disconnected)
    },
  })

  return {
    tags: [],
    routes: [organizationStats, endpointStats],
    schemas: () => ({
      StatsPoint: recordSchema('The counts of one step.', statsFields, examplePoint),
      StatsTotal: recordSchema('The counts of all steps together.', totalFields, exampleTotal),
      Stats: {
        type: 'object',
        description: 'The counts, step by step.',
        required: ['data', 'total'],
        properties: {
          data: { type: 'array', items: ref('StatsPoint'), description: 'Every step, the earliest first.' },
          total: ref('StatsTotal'),
        },
      },
    }),
  } satisfies ApiModule
}

async function answer(
  { database, clock, retention, schedule: { answerTimeout } }: StatsServices,
  { organizationId, scopes }: Caller,
  webhookId: string | null,
  kinds: readonly Kind[],
  query: StepsQuery,
  signal: AbortSignal,
): Promise<Outcome<unknown>> {
  const steps = stepsOf(query, clock.now(), retention)
  if (!steps.ok) return refused(steps.error)
  const readable = kinds.filter(({ plural }) => grants(scopes, `${plural}:read`))
  const tables = readable.map(({ table }) => table)
  const abortable = { ofLong: (organization: string) => database.ofLong(organization, signal) }
  const timing = { steps: steps.value, answerTimeout }
  const stats = await readStats(abortable, { organizationId, webhookId }, tables, timing)
  return stats === 'too_long' ? refused(tooLong) : done(stats)
}

const tooLong = problem(
  'unavailable',
  'Counting took too long. Ask for a shorter span, or again when less is going on.',
)

const exampleTotal = { succeeded: 118, failed: { timeout: 1, non_2xx: 3 }, p50: 42, p95: 310 }

const examplePoint = {
  at: exampleTime,
  ...exampleTotal,
  changes: { customer: 40, ticket: 21 },
}

const quietPoint = {
  at: '2026-01-31T09:31:00.000Z',
  succeeded: 0,
  failed: {},
  p50: null,
  p95: null,
  changes: {},
}
