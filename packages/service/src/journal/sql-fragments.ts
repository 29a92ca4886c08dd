/**
 * Fragments of the functions that change an organization's records outside of its stream. Each function takes the
 * clock row first, as commits do, so that no two run at once. Their arguments: p_organization_id, p_now and, where a
 * request can be repeated, p_response.
 */
import { refuseNotServed } from './not-served.ts'

/**
 * Takes the clock row. It fails with `lock_not_available` after the caller's limit or 250 ms, as a connection should
 * not wait for a transaction that may take a minute. The caller tries again (`GroupCommit.exclusiveTask`,
 * `unlessBusy`). Other rows are held for moments only, so they have no limit.
 */
export const lockClock = `if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  if exists (select 1 from organization_clocks c where c.organization_id = p_organization_id and c.away is not null) then
    ${refuseNotServed('(select c.away from organization_clocks c where c.organization_id = p_organization_id)')}
  end if;`
