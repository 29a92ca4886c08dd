/** Sends batches: whatever a call is answered, it is known what became of each row, and the import goes on. */
import { randomUUID } from 'node:crypto'
import { type BatchAnswer, DeskwireError } from '@deskwire/sdk'
import type { Kind } from '@deskwire/service/kinds'
import { clientOf, type Target } from '../client.ts'
import { bulkOf } from '../kinds.ts'
import type { Batch } from './batches.ts'
import type { Sent } from './run.ts'

/** A service that is being restarted is waited for: some forty seconds in all. */
export const patience = { limit: 12 }

interface SenderOptions {
  /** Of an import of this file with these options alone: its rows are in it. */
  keyOf(batch: Batch): string
  /** Whether this import may have sent it before. */
  isOwn(batch: Batch): boolean
  readonly isHistory: boolean
  readonly signal: AbortSignal
}

/** Sends batches, and finds out which rows an earlier import has created, and which row a call is refused for. */
export function createSender(kind: Kind, target: Target, { keyOf, isOwn, isHistory, signal }: SenderOptions) {
  /** The keys whose responses were stored before they were sent first. */
  const replayed = new Set<string>()
  const wasReplayed = (key: string) => [...replayed].some((one) => one.startsWith(key))
  const client = clientOf(target, {
    retries: patience,
    onResponse({ request, response }) {
      if (request.attempt === 1 && response?.headers.get('idempotent-replayed') === 'true')
        replayed.add(request.headers.get('idempotency-key') ?? '')
    },
  })
  const bulk = bulkOf(client, kind)

  return async (batch: Batch, items: readonly object[]): Promise<Sent> => {
    const { isMatched } = batch
    const key = keyOf(batch)
    const call = isHistory ? 'import' : isMatched ? 'upsert' : 'batch'
    const post = (some: readonly object[], idempotencyKey: string) =>
      bulk[call](some, { idempotencyKey, signal })
    try {
      const answer = await isolating(post, items, key)
      return { answer, isReplayed: wasReplayed(key) && !isOwn(batch) }
    } catch (error) {
      if (!(await isErased(error))) throw error
      if (isMatched) return { answer: await isolating(post, items, randomUUID()), isReplayed: false }
      return { answer: allCreated(items), isReplayed: !isOwn(batch) }
    }
  }

  /** Whether the stored response was erased with an object in it. A wrong address is 404 for any body. */
  async function isErased(error: unknown): Promise<boolean> {
    if (!(error instanceof DeskwireError) || error.status !== 404) return false
    const probe = await bulk.batch([], { idempotencyKey: randomUUID(), signal }).catch((refusal) => refusal)
    return probe instanceof DeskwireError && probe.status === 422
  }
}

/** Of a call that an earlier import has made, and whose response is gone. */
function allCreated(items: readonly object[]): BatchAnswer {
  const data = items.map((_, index) => ({ index, status: 201, outcome: 'created' as const, id: '' }))
  return { data, created: items.length, updated: 0, unchanged: 0, refused: 0 }
}

/** Sends items, and halves of them where a call is refused as a whole, until it is known for which of them. */
export async function isolating(
  post: (items: readonly object[], key: string) => Promise<BatchAnswer>,
  items: readonly object[],
  key: string,
): Promise<BatchAnswer> {
  try {
    return await post(items, key)
  } catch (error) {
    if (!(error instanceof DeskwireError) || !isForItems(error)) throw error
    const { code, detail, status } = error
    if (items.length === 1) {
      const problem = { code, title: code, detail }
      const data = [{ index: 0, status, outcome: 'refused' as const, problem }]
      return { data, created: 0, updated: 0, unchanged: 0, refused: 1 }
    }
    const half = Math.ceil(items.length / 2)
    const first = await isolating(post, items.slice(0, half), `${key}.1`)
    const second = await isolating(post, items.slice(half), `${key}.2`)
    return {
      data: [...first.data, ...second.data],
      created: first.created + second.created,
      updated: first.updated + second.updated,
      unchanged: first.unchanged + second.unchanged,
      refused: first.refused + second.refused,
    }
  }
}

/** A proxy may also take smaller bodies than the service (413). */
function isForItems({ status, code, errors = [] }: DeskwireError): boolean {
  if (errors.some(({ pointer }) => pointer === '/operation')) return false
  return status === 413 || code === 'malformed_json' || code === 'validation_failed'
}
