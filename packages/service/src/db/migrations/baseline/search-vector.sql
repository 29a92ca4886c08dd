-- What the words p_terms are indexed as. Each term has the end of the organization's id in front, so that the index
-- finds those of one organization without an extension. They are on the last line of the document. One expression of
-- built-in functions, which the planner inlines.
create function search_vector(p_organization_id uuid, p_terms text) returns tsvector
language sql immutable parallel safe
return array_to_tsvector(string_to_array(
  right(p_organization_id::text, 8)
    || replace(split_part(p_terms, e'\n', -1), ' ', ' ' || right(p_organization_id::text, 8)), ' '));
