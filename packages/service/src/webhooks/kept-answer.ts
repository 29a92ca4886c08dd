/** Answers kept for an Idempotency-Key by POSTs that do not go through the journal. They may hold a secret. */
import type { IdempotencyRecord } from '../journal/change.ts'

export interface Sealer {
  seal(text: string, context: string): Buffer
}

/** What an answer is bound to: another organization's key cannot open it. */
export function answerContext(organizationId: string, record: IdempotencyRecord): string {
  return `answer ${organizationId} ${record.apiKeyId} ${record.method} ${record.path}`
}

/** The record with its answer, as the functions of the database keep it; null without a key. */
export function keptAnswer(
  sealer: Sealer,
  organizationId: string,
  record: IdempotencyRecord | null,
  answer: string,
): string | null {
  if (record === null) return null
  const { apiKeyId, method, path, key, requestHash, status } = record
  return JSON.stringify({
    api_key_id: apiKeyId,
    method,
    path,
    key,
    request_hash: requestHash,
    status,
    sealed: sealer.seal(answer, answerContext(organizationId, record)).toString('hex'),
  })
}
