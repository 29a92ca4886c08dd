-- The endpoint, its secrets and its key: the last statement of a claim. Read after the deliveries, so that an event
-- that came after a change of the endpoint is never sent as the endpoint was before. Returns no row when the endpoint
-- was deleted.
--
-- $1 organization, $2 endpoint, $3 now
select w.url, coalesce(w.disabled_reason, case when w.ends_at <= $3 then 'ended' end) as disabled_reason,
    (select array_to_string(k.scopes, ' ') from api_keys k where k.organization_id = $1 and k.id = w.api_key_id
      and (k.expires_at is null or k.expires_at > $3)) as scopes,
    (select string_agg(encode(s.sealed, 'hex'), ' ' order by s.created_at desc, s.id desc) from webhook_secrets s
      where s.organization_id = $1 and s.webhook_id = $2 and (s.expires_at is null or s.expires_at > $3)) as secrets,
    case when 'standard' = any(w.signatures) then true end as standard,
    case when 'v1a' = any(w.signatures) then true end as asymmetric,
    (select true from organizations o
      where o.organization_id = $1 and (o.suspended_at is not null or o.away is not null)) as suspended,
    case when w.options is not null
      then coalesce(encode(w.sealed_headers, 'hex'), '') || ' ' || w.options end as options,
    w.reported_state
  from webhooks w where w.organization_id = $1 and w.id = $2
