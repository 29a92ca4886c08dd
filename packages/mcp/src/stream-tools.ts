/** Tools for what happened and what was delivered: the stream of changes, endpoints, and replays. */
import type { Api, Json } from './api.ts'
import {
  id,
  instant,
  objectOf,
  propertiesOf,
  shown,
  type Tool,
  type ToolParts,
  whole,
  words,
} from './tool.ts'

/** Endpoints whose failures are shown. */
const shownEndpoints = 5
const shownFailures = 3

export function streamTools(parts: ToolParts): readonly Tool[] {
  return [
    {
      name: 'changes_since',
      title: 'Changes since',
      description:
        'Every change of the desk in the order of its commits, since a time or a cursor. The cursor never skips and never expires; the last page has a checkpoint to prove a copy by.',
      scopes: parts.kinds.map(({ plural }) => `${plural}:read`),
      anyScope: true,
      effect: 'reads',
      input: objectOf({
        updatedAfter: instant('Where to begin, exclusive; without a cursor only. Default: at the beginning.'),
        cursor: words('The nextCursor of the previous call.', 2_000),
        limit: whole('Changes at most.', 1, 100, 20),
      }),
      output: objectOf(
        {
          changes: {
            type: 'array',
            items: { type: 'object' },
            description: 'Objects as they are now, or removal records (object: removed).',
          },
          nextCursor: { type: 'string', description: 'Continues from here, now or later.' },
          hasMore: { type: 'boolean', description: 'Whether more changes follow now.' },
          checkpoint: {
            type: 'object',
            description: 'The count and digest of an exact copy, by kind; on the last page.',
          },
        },
        ['changes', 'nextCursor', 'hasMore'],
      ),
      async run(
        { cursor, updatedAfter = cursor === undefined ? '1970-01-01T00:00:00Z' : undefined, limit },
        api,
      ) {
        const page = await api.get('/changes', { cursor, updatedAfter, limit: limit ?? 20 })
        const { data, pagination } = page as { data: Json; pagination: Json }
        const { nextCursor, hasMore, checkpoint } = pagination
        return { changes: data, nextCursor, hasMore, ...(checkpoint === undefined ? {} : { checkpoint }) }
      },
    },
    {
      name: 'delivery_problems',
      title: 'Delivery problems',
      description:
        'Endpoints that fail, are disabled or have missed events, each with its latest failed deliveries. replay_missed_events sends those again.',
      scopes: ['webhooks:read'],
      effect: 'reads',
      input: objectOf({}),
      output: objectOf(
        {
          problems: {
            type: 'array',
            items: objectOf({
              endpoint: shown(parts, 'Webhook', 'The endpoint.'),
              failures: {
                type: 'array',
                items: shown(parts, 'Delivery', 'A delivery that failed or waits for its next attempt.'),
                description: 'The latest.',
              },
            }),
            description: `Endpoints with a problem; failures of the first ${shownEndpoints}.`,
          },
          healthy: { type: 'integer', description: 'Endpoints without one.' },
        },
        ['problems', 'healthy'],
      ),
      run: deliveryProblems,
    },
    replay(parts),
  ]
}

interface Endpoint extends Json {
  readonly id: string
  readonly status: string
  readonly failingSince: string | null
  readonly missedSince: string | null
}

async function deliveryProblems(_args: unknown, api: Api): Promise<Json> {
  const endpoints: Endpoint[] = []
  for (let offset = 0; ; offset += 100) {
    const page = await api.get('/webhooks', { limit: 100, offset })
    const { data, pagination } = page as unknown as {
      data: readonly Endpoint[]
      pagination: { hasMore: boolean }
    }
    endpoints.push(...data)
    if (!pagination.hasMore) break
  }
  const troubled = endpoints.filter(
    ({ status, failingSince, missedSince }) =>
      status !== 'active' || failingSince !== null || missedSince !== null,
  )
  const problems: Json[] = []
  for (const [place, endpoint] of troubled.entries()) {
    const failures =
      place < shownEndpoints
        ? await api.get(`/webhooks/${endpoint.id}/deliveries`, { status: 'failed', limit: shownFailures })
        : { data: [] }
    problems.push({ endpoint, failures: failures.data })
  }
  return { problems, healthy: endpoints.length - troubled.length }
}

function replay(parts: ToolParts): Tool {
  return {
    name: 'replay_missed_events',
    title: 'Replay missed events',
    description:
      'Sends an endpoint the events again that it has missed. It continues by itself after the call. Repair the receiver first.',
    scopes: ['webhooks:write', 'webhooks:read'],
    effect: 'sends',
    input: objectOf(
      {
        endpointId: id('The endpoint.'),
        ...propertiesOf(parts, 'RecoveryCreate', ['since']),
        since: instant('The earliest event. Default: since the endpoint has missed events.'),
        dryRun: {
          type: 'boolean',
          default: false,
          description: 'Decides and sends nothing: shows the replay, or the refusal.',
        },
        idempotencyKey: words('Your own name for this call: under the same name it is made once.'),
      },
      ['endpointId'],
    ),
    output: objectOf(
      {
        dryRun: { type: 'boolean' },
        since: instant('The earliest event.'),
        endpoint: shown(parts, 'Webhook', 'The endpoint, before the replay.'),
        recovery: shown(parts, 'Recovery', 'The replay, running; of a dry run, as it would be.'),
      },
      ['dryRun', 'since', 'endpoint', 'recovery'],
    ),
    async run({ endpointId, dryRun = false, idempotencyKey, since: asked, ...window }, api) {
      const endpoint = await api.get(`/webhooks/${endpointId}`)
      const { missedSince, failingSince, createdAt } = endpoint
      const since = asked ?? missedSince ?? failingSince ?? createdAt
      const path = `/webhooks/${endpointId}/recover?dryRun=${dryRun}`
      const recovery = await api.send('POST', path, { since, ...window }, { idempotencyKey })
      return { dryRun, since, endpoint, recovery }
    },
  }
}
