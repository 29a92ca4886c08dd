-- Takes the clock row of an organization, as commits do, so that no two functions change its records at once. Each
-- function that changes records outside of the stream begins with it.
--
-- Fails with `lock_not_available` after the caller's limit or 250 ms, as a connection should not wait for a transaction
-- that may take a minute. The caller tries again (`GroupCommit.exclusiveTask`, `unlessBusy`). Other rows are held for
-- moments only, so they have no limit. Fails with `DW003` (`db/not-served.ts`) where another database serves the
-- organization.
create function lock_clock(p_organization_id uuid) returns void
language plpgsql volatile as $function$
declare
  v_away text;
begin
  if current_setting('lock_timeout') = '0' then
    perform set_config('lock_timeout', '250ms', true);
  end if;
  perform 1 from organization_clocks c where c.organization_id = p_organization_id for update;
  perform set_config('lock_timeout', '0', true);
  select c.away into v_away from organization_clocks c where c.organization_id = p_organization_id;
  if v_away is not null then
    raise exception 'this database does not serve the organization' using errcode = 'DW003', detail = v_away;
  end if;
end;
$function$;
