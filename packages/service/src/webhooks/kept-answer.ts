/** Answers kept for an Idempotency-Key by POSTs that do not go through the journal. They may hold a secret. */
import type { IdempotencyRecord } from '../journal/change.ts'
import type { SecretBox, SecretOwner } from './secrets.ts'

/** The record with its answer, as the functions of the database keep it; null without a key. */
export function keptAnswer(
  box: SecretBox,
  owner: SecretOwner,
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
    sealed: box.seal(answer, owner).toString('hex'),
  })
}
