-- The trigger function of __table__ in the database that an organization leaves. Its argument is the organization's
-- id.
--
-- The fence: each writer holds a shared lock until its transaction ends; the mover takes it exclusively, and has then
-- seen all that will ever be written there. Once the organization has left, a writer is refused with `DW003`
-- (`db/not-served.ts`), but rows left behind may be deleted when they expire.
--
-- The notes: the key of each row that is written, so that it is copied again. A table whose rows move at the cutover
-- (__at_cutover__) has none, and no row of it is deleted after that either.
create function move___table__() returns trigger
language plpgsql volatile as $function$
declare
  v_state text;
  v_old_key jsonb;
  v_new_key jsonb;
begin
  if current_setting('deskwire.mover', true) is distinct from tg_argv[0] then
    perform pg_advisory_xact_lock_shared(hashtextextended(tg_argv[0], __fence_seed__));
    select m.state into v_state from organization_moves m where m.organization_id = tg_argv[0]::uuid;
    if v_state <> 'copying' and (__at_cutover__ or tg_op <> 'DELETE') then
      raise exception 'this database does not serve the organization' using errcode = 'DW003',
        detail = (select o.away from organizations o where o.organization_id = tg_argv[0]::uuid);
    end if;
  end if;
  -- each leased
  -- While deliveries drain before the cutover, none begins: those under way are completed here, so that none is sent
  -- twice.
  if tg_op = 'UPDATE' then
    if new.lease_id is distinct from old.lease_id and new.lease_id is not null
        and exists (select 1 from organization_moves m
          where m.organization_id = tg_argv[0]::uuid and m.draining_until > clock_timestamp()) then
      return null;
    end if;
  end if;
  -- end leased
  if not __at_cutover__ and v_state = 'copying' then
    if tg_op <> 'INSERT' then
      v_old_key := '{}'::jsonb
        -- each key
        || jsonb_build_object('__column__', old.__column__)
        -- end key
      ;
      insert into move_changes (organization_id, table_name, key) values (tg_argv[0]::uuid, '__table__', v_old_key);
    end if;
    if tg_op <> 'DELETE' then
      v_new_key := '{}'::jsonb
        -- each key
        || jsonb_build_object('__column__', new.__column__)
        -- end key
      ;
      if v_new_key is distinct from v_old_key then
        insert into move_changes (organization_id, table_name, key) values (tg_argv[0]::uuid, '__table__', v_new_key);
      end if;
    end if;
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end;
$function$;
