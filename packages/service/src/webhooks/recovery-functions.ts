/** The beginning of a recovery in the database. What follows is a worker's: `delivery/recoveries.ts`. */
import { type SchemaFunction, schemaFunction } from '../db/migration.ts'
import { keepAnswerAbout, lockClock, replayed } from '../journal/call-fragments.ts'
import { refuseUnlessActive } from './functions.ts'

/**
 * Notes that the window is to be recovered, to be begun at once: 'done', 'refused' when the endpoint is disabled or gone,
 * or 'replayed'.
 */
export const recoverFunction: SchemaFunction = schemaFunction(
  'recover_webhook',
  {
    arguments:
      'p_organization_id uuid, p_webhook_id uuid, p_now timestamptz, p_recovery_id uuid, p_since timestamptz, p_until timestamptz, p_keep jsonb',
    returns: 'text',
  },
  `begin
  ${lockClock}
  ${replayed}
  ${refuseUnlessActive}
  ${keepAnswerAbout('p_webhook_id')}
  insert into recoveries (organization_id, webhook_id, id, since, until, created_at, position, due_at)
    values (p_organization_id, p_webhook_id, p_recovery_id, p_since, p_until, p_now, first_uuid_v7(p_since), p_now);
  return 'done';
end;`,
)
