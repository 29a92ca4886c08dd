/** Answers that are kept though nothing was committed, for requests that may come again under their Idempotency-Key. */
import { type SchemaFunction, schemaFunction } from '../db/migration.ts'
import { keepAnswerAbout, lockClock, replayed } from './call-fragments.ts'
import type { CallUnderClock } from './journal.ts'

/**
 * 'done', or 'replayed' when the key has an answer already. It takes the clock row as every commit does: a twin that found
 * something to change either sees this answer, or is seen.
 */
export const keepAnswerFunction: SchemaFunction = schemaFunction(
  'keep_answer',
  {
    arguments: 'p_organization_id uuid, p_subject_id uuid, p_now timestamptz, p_keep jsonb',
    returns: 'text',
  },
  `begin
  ${lockClock}
  ${replayed}
  ${keepAnswerAbout('p_subject_id')}
  return 'done';
end;`,
)

/** Keeps an answer about `subjectId`, in the words of `http/idempotency.ts`, as of the timestamp `now`. */
export function keepAnswer(
  callUnderClock: CallUnderClock,
  organizationId: string,
  answer: { readonly subjectId: string; readonly now: string; readonly keep: string },
): Promise<'done' | 'replayed'> {
  const { subjectId, now, keep } = answer
  return callUnderClock(keepAnswerFunction, [organizationId, subjectId, now, keep])
}
