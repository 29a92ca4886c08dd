/** Faults in the part of one kind: `journal/kind.sql`, `unlink.sql` and `times-taken.sql`. */
import type { Fault } from './fault.ts'

const kind = 'journal/kind.sql'
const unlink = 'journal/unlink.sql'
const times = 'journal/times-taken.sql'

export const kindFaults: readonly Fault[] = [
  // moved_on
  {
    name: 'a row that a unit was decided on may be in any version',
    file: kind,
    change: {
      "'conflict')\n    from changes_of(p_organization_id, p_changes, '__kind__', null, '{}') c\n    where c.expected is not null\n      and not exists (select 1 from __table__ t where t.organization_id = c.organization_id and t.id = c.id\n        and t.updated_at = c.expected":
        "'conflict')\n    from changes_of(p_organization_id, p_changes, '__kind__', null, '{}') c\n    where c.expected is not null\n      and not exists (select 1 from __table__ t where t.organization_id = c.organization_id and t.id = c.id\n        and t.updated_at is not null",
    },
    killers: ['messages/races.pg.test.ts'],
    titled: 'a message that was decided before',
  },

  // delete
  {
    name: 'a delete is made though its row has moved on',
    file: kind,
    change: {
      'where t.organization_id = c.organization_id and t.id = c.id and t.updated_at = c.expected\n      returning':
        'where t.organization_id = c.organization_id and t.id = c.id\n      returning',
    },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'outdated row',
  },
  {
    name: 'a removed row keeps its values',
    file: kind,
    change: {
      "set (removed_at, updated_at, body, __columns__)\n        = row(p_stamp, p_stamp, removal_record('__kind__', t.id, p_stamp), __nulls__)":
        "set (removed_at, updated_at, body)\n        = row(p_stamp, p_stamp, removal_record('__kind__', t.id, p_stamp))",
    },
    killers: ['http/duplicates.pg.test.ts'],
    titled: 'free again',
  },
  {
    name: 'a removed row keeps its place in the stream',
    file: kind,
    change: { '= row(p_stamp, p_stamp, removal_record(': '= row(p_stamp, t.updated_at, removal_record(' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },
  {
    name: 'the words of a removed row are kept',
    file: kind,
    change: { 'from unnest(v_gone) g offset 0) g': 'from unnest(v_gone) g where false offset 0) g' },
    killers: ['retention/maintenance.pg.test.ts'],
    titled: 'nothing of a removed object',
  },
  {
    name: 'a removed row stays in the digest',
    file: kind,
    change: { '-1, -g.bytes, -g.old_term, -g.old_content, 0)': '-1, -g.bytes, 0, -g.old_content, 0)' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },
  {
    name: 'a removed row stays in the digest of contents',
    file: kind,
    change: { '-1, -g.bytes, -g.old_term, -g.old_content, 0)': '-1, -g.bytes, -g.old_term, 0, 0)' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },
  {
    name: 'a removed row stays in the bytes',
    file: kind,
    change: { '-1, -g.bytes, -g.old_term, -g.old_content, 0)': '-1, 0, -g.old_term, -g.old_content, 0)' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },

  // check
  {
    name: 'a change of a row that has moved on is refused for what it would run into',
    file: kind,
    change: { 'and (c.expected is null or exists': 'and (true or exists' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'outdated row',
  },
  {
    name: 'a unique value that is taken is not seen',
    file: kind,
    change: {
      'and t.__column__ = c.__column__ and t.id <> c.id': 'and t.__column__ = c.__column__ and false',
    },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'values and keys',
  },
  {
    name: 'a row is in the way of its own unique values',
    file: kind,
    change: { 'and t.__column__ = c.__column__ and t.id <> c.id': 'and t.__column__ = c.__column__' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'values and keys',
  },
  {
    name: 'a reference to nothing is accepted',
    file: kind,
    change: { '= any(c.checks) and v.__column__ is not null\n': '= any(c.checks) and false\n' },
    killers: ['http/references.pg.test.ts'],
    titled: 'unknown customer',
  },
  {
    name: 'a reference to a removed row is accepted',
    file: kind,
    change: { 'where t.removed_at is null and t.holds': 'where t.holds' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },
  {
    name: 'a reference to a row that may not be referred to is accepted',
    file: kind,
    change: { 'where t.removed_at is null and t.holds': 'where t.removed_at is null' },
    killers: ['http/references.pg.test.ts'],
    titled: 'cannot be assigned',
  },
  {
    name: 'a reference to a row of another organization is accepted',
    file: kind,
    change: { 'where f.organization_id = p_organization_id and f.id between': 'where f.id between' },
    killers: ['http/crossing.pg.test.ts'],
    titled: 'an id of theirs in a body',
  },
  {
    name: 'a referring row that left meanwhile is not missed',
    file: kind,
    change: {
      '(v.count <> t.count or v.latest is distinct from t.latest)': '(v.latest is distinct from t.latest)',
    },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'came, went',
  },
  {
    name: 'a referring row that changed meanwhile is not noticed',
    file: kind,
    change: { '(v.count <> t.count or v.latest is distinct from t.latest)': '(v.count <> t.count)' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'came, went',
  },
  {
    name: 'every row of the organization is one that refers',
    file: kind,
    change: {
      'and f.__column__ between v.target and v.target and f.removed_at is null': 'and f.removed_at is null',
    },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'came, went',
  },

  // write
  {
    name: 'two new rows of a call get one number',
    file: kind,
    change: { '+ count(*) filter (where i.number is null) over (order by c.created_at, c.id)': '+ 1' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'answers what is stored',
  },
  {
    name: 'numbers begin anew with each commit',
    file: kind,
    change: { "and k.kind between '__kind__' and '__kind__'": 'and false' },
    killers: ['stream/commit-function.pg.test.ts'],
    titled: 'numbers',
  },
  {
    name: 'numbers do not mind those that an import brings',
    file: kind,
    change: { 'greatest(l.number, max(i.number) over ())': 'l.number' },
    killers: ['http/import.pg.test.ts'],
    titled: 'in one call and over several',
  },
  {
    name: 'numbers are not in the order of creation',
    file: kind,
    change: { 'over (order by c.created_at, c.id)': 'over (order by c.created_at desc, c.id desc)' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'answers what is stored',
  },
  {
    name: 'an object is not found by its number',
    file: kind,
    change: { "concat_ws(' ', f.terms, f.number)": 'f.terms' },
    killers: ['lists/search.pg.test.ts'],
    titled: 'by its number',
  },
  {
    name: 'an object is found by what it said before',
    file: kind,
    change: { "if 'index __kind__' = any(p_operations) then": 'if false then' },
    killers: ['lists/search.pg.test.ts'],
    titled: 'follows changes',
  },
  {
    name: 'bytes of new rows are counted as characters',
    file: kind,
    change: { '1, octet_length(f.body), version_term': '1, length(f.body), version_term' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'answers what is stored',
  },
  {
    name: 'an update is made though its row has moved on',
    file: kind,
    change: {
      'and t.id = c.id and t.updated_at = c.expected\n        returning':
        'and t.id = c.id\n        returning',
    },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'outdated row',
  },
  {
    name: 'a row goes back to an earlier version of its kind',
    file: kind,
    change: { 'greatest(t.body_version, __version__)': '__version__' },
    killers: ['upgrade/versions.pg.test.ts'],
    titled: 'keeps what it does not know',
  },
  {
    name: 'a changed row keeps its place in the stream',
    file: kind,
    change: { '= row(p_stamp, p_heads[c.head] || v_tail,': '= row(t.updated_at, p_heads[c.head] || v_tail,' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'outdated row',
  },
  {
    name: 'the bytes before a change stay counted',
    file: kind,
    change: { '0, octet_length(u.body) - u.bytes,': '0, octet_length(u.body),' },
    killers: ['stream/interleaving.pg.test.ts'],
  },
  {
    name: 'the version before a change stays in the digest',
    file: kind,
    change: { '::numeric - u.old_term,': '::numeric,' },
    killers: ['stream/commit-function.pg.test.ts'],
    titled: 'the digest is the sum',
  },
  {
    name: 'the content before a change stays in the digest',
    file: kind,
    change: { '::numeric - u.old_content, 0)': '::numeric, 0)' },
    killers: ['stream/commit-function.pg.test.ts'],
    titled: 'content digest',
  },
  {
    name: 'what an update changes is not told',
    file: kind,
    change: { 'u.events, u.changed, u.trace_context': 'u.events, null, u.trace_context' },
    killers: ['delivery/conditions.pg.test.ts'],
    titled: 'when a change changed',
  },

  // unlink
  {
    name: 'an erase detaches what it should take',
    file: unlink,
    change: {
      'where (p_erases or __removes__)\n': 'where (__removes__)\n',
      'where not (p_erases or __removes__)\n': 'where not (__removes__)\n',
    },
    killers: ['http/erase.pg.test.ts'],
    titled: 'receipt',
  },
  {
    name: 'what refers to a removed row keeps its reference',
    file: unlink,
    change: { 'where not (p_erases or __removes__)\n': 'where false\n' },
    killers: ['http/customer-deletion.pg.test.ts'],
    titled: 'to the byte',
  },
  {
    name: 'a row that loses a reference does not move in the stream',
    file: unlink,
    change: { 'set __column__ = null, updated_at = p_stamp, body': 'set __column__ = null, body' },
    killers: ['http/customer-deletion.pg.test.ts'],
    titled: 'to the byte',
  },
  {
    name: 'what is stored of a detached row keeps the reference',
    file: unlink,
    change: {
      "'__detached_field__', p_stamp from detached d\n":
        "'__detached_field__', p_stamp from detached d where false\n",
    },
    killers: ['retention/erasure.pg.test.ts'],
    titled: 'the reference alone',
  },
  {
    name: 'a dependent goes without an event',
    file: unlink,
    change: { "case when w.reported is not null then '{__removed_event__}'::text[] end": 'null::text[]' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },
  {
    name: 'a row that loses a reference has an event',
    file: unlink,
    change: {
      "case when w.reported is not null then '{__removed_event__}'::text[] end":
        "'{__removed_event__}'::text[]",
    },
    killers: ['http/customer-deletion.pg.test.ts'],
    titled: 'to the byte',
  },
  {
    name: 'a dependent has gone by itself, as its event says',
    file: unlink,
    change: { 'p_of.trace_context, p_of.cause,': 'p_of.trace_context, null,' },
    killers: ['delivery/actor.pg.test.ts'],
    titled: 'takes along',
  },
  {
    name: 'a detached row counts as removed',
    file: unlink,
    change: { '-(w.reported is not null)::int,': '-1,' },
    killers: ['http/customer-deletion.pg.test.ts'],
    titled: 'to the byte',
  },
  {
    name: 'a dependent stays in the bytes',
    file: unlink,
    change: { ' - octet_length(w.old_body),': ',' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },
  {
    name: 'a dependent stays in the digest',
    file: unlink,
    change: { '::numeric - version_term_of(w.old_body),': '::numeric,' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },
  {
    name: 'a dependent stays in the digest of contents',
    file: unlink,
    change: { '::numeric - content_term(w.old_body), 0)': '::numeric, 0)' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },
  {
    name: 'the words of a dependent are kept',
    file: unlink,
    change: { 'where g.rows < 0 offset 0) g': 'where false offset 0) g' },
    killers: ['retention/maintenance.pg.test.ts'],
    titled: 'nothing of a removed object',
  },
  {
    name: 'the words of a detached row go',
    file: unlink,
    change: { 'where g.rows < 0 offset 0) g': 'offset 0) g' },
    killers: ['http/customer-deletion.pg.test.ts'],
  },

  // times_taken
  {
    name: 'times are taken where nobody asked for it',
    file: times,
    change: { 'and o.prevents_double_booking)': 'and true)' },
    killers: ['desk/double-booking.pg.test.ts'],
    titled: 'it is off',
  },
  {
    name: 'times are never taken',
    file: times,
    change: { 'and o.prevents_double_booking)': 'and false)' },
    killers: ['desk/double-booking.pg.test.ts'],
    titled: 'only pending',
  },
  {
    name: 'two objects of a call take one time',
    file: times,
    change: { 'v_taken := v_taken || v_change.period;': 'null;' },
    killers: ['desk/double-booking.pg.test.ts'],
    titled: 'items of a batch',
  },
  {
    name: 'the later of a call comes first',
    file: times,
    change: { 'order by v.__owner__, c.ordinality': 'order by v.__owner__, c.ordinality desc' },
    killers: ['desk/double-booking.pg.test.ts'],
    titled: 'items of a batch',
  },
  {
    name: 'a time that begins where another ends is refused',
    file: times,
    change: { 'collate "C" > timestamp_text': 'collate "C" >= timestamp_text' },
    killers: ['desk/double-booking.pg.test.ts'],
  },
  {
    name: 'a time that ends where another begins is refused',
    file: times,
    change: { 'and t.__starts__ < v_change.ends': 'and t.__starts__ <= v_change.ends' },
    killers: ['desk/double-booking.pg.test.ts'],
  },
  {
    name: 'adjacent times of a call are refused',
    file: times,
    change: {
      'tstzrange(v.__starts__, c.ends::timestamptz)': "tstzrange(v.__starts__, c.ends::timestamptz, '[]')",
    },
    killers: ['desk/double-booking.pg.test.ts'],
    titled: 'items of a batch',
  },
  {
    name: 'an object is in the way of its own time',
    file: times,
    change: { 'and t.id <> v_change.id': '' },
    killers: ['desk/double-booking.pg.test.ts'],
    titled: 'never in its own way',
  },
  {
    name: 'objects in every state take their time',
    file: times,
    change: { 'and t.__state__ in (__taking__) and': 'and' },
    killers: ['desk/double-booking.pg.test.ts'],
    titled: 'only pending',
  },
  {
    name: 'the times of every owner are taken',
    file: times,
    change: { 'and t.__owner__ = v_owner and': 'and' },
    killers: ['desk/double-booking.pg.test.ts'],
  },
  {
    name: 'the times of a call are those of its first owner',
    file: times,
    change: {
      'if v_owner is distinct from v_change.owner then':
        'if v_owner is null then\n      v_owner := v_change.owner;\n    end if;\n    if v_owner is null then',
    },
    killers: ['desk/double-booking.pg.test.ts'],
    titled: 'items of a batch',
  },
  {
    name: 'a refused object takes its time',
    file: times,
    change: { 'and not p_refusals @>': 'and true or p_refusals @>' },
    killers: ['desk/double-booking.pg.test.ts'],
    titled: 'items of a batch',
  },
]
