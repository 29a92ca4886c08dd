-- A row's term of the content digest: of its bytes, as digest_term is of its id and version.
create function content_term(p_body text) returns bigint
language sql immutable parallel safe
return ('x' || left(encode(sha256(convert_to(p_body, 'UTF8')), 'hex'), 16))::bit(64)::bigint;
