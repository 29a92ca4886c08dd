-- Refuses a value sealed with another encryption key than the database names, with `DW002` (`journal/functions.ts`),
-- and locks that name until the commit. So no value stays under an old key after a key rotation (decision 56).
-- p_key_check: the check value of the key that sealed the value; null where nothing is sealed.
create function require_sealed_with(p_key_check bytea) returns void
language plpgsql volatile as $function$
begin
  if p_key_check is null then
    return;
  end if;
  perform 1 from installation i where i.singleton and (i.key_check is null or i.key_check = p_key_check) for share;
  if not found then
    raise exception 'sealed with another encryption key than the database names' using errcode = 'DW002';
  end if;
end;
$function$;
