/** Faults in what all kinds share: `journal/commit.sql` and the functions that it calls. */
import type { Fault } from './fault.ts'

const commit = 'journal/commit.sql'

export const commitFaults: readonly Fault[] = [
  // 1. The clock row.
  {
    name: 'a stamp is no later than the one before it',
    file: commit,
    change: { "limit 1)) + interval '1 millisecond', p_now)": 'limit 1)), p_now)' },
    killers: ['stream/clock-skew.pg.test.ts'],
    titled: 'whatever processes',
  },
  {
    name: 'a clock that is set back sets the stamps back',
    file: commit,
    change: { "limit 1)) + interval '1 millisecond', p_now)": "limit 1)) - interval '1 year', p_now)" },
    killers: ['stream/clock-skew.pg.test.ts'],
    titled: 'whatever processes',
  },
  {
    name: 'the stamp follows the first commit, and not the latest',
    file: commit,
    change: { 'order by k.stamp desc limit 1)) +': 'order by k.stamp limit 1)) +' },
    killers: ['stream/clock-skew.pg.test.ts'],
    titled: 'whatever processes',
  },
  {
    name: 'the stamp may be in the span that a restore has lost',
    file: commit,
    change: { 'greatest(greatest(v_floor, (select': 'greatest(greatest(null, (select' },
    killers: ['sync/restored.pg.test.ts'],
  },
  {
    name: 'a clock that is ahead of the database is believed',
    file: commit,
    change: { 'if p_now > clock_timestamp() +': 'if false and p_now > clock_timestamp() +' },
    killers: ['stream/clock-skew.pg.test.ts'],
    titled: 'ahead of the database',
  },
  {
    name: 'the clock row is not locked',
    file: commit,
    change: { 'p_organization_id for no key update;': 'p_organization_id;' },
    killers: ['stream/commit-function.pg.test.ts'],
    titled: 'numbers',
  },
  {
    name: 'commits share the lock of the clock row',
    file: commit,
    change: { 'p_organization_id for no key update;': 'p_organization_id for share;' },
    killers: ['stream/commit-function.pg.test.ts'],
    titled: 'numbers',
  },
  {
    name: 'the last stamp is read before the lock is there',
    file: commit,
    change: {
      'select c.away, c.last_stamp into v_away, v_floor':
        'select c.away, (select max(l.last_stamp) from clocks l where l.organization_id = c.organization_id) into v_away, v_floor',
      '(select k.stamp from commits k where k.organization_id = p_organization_id\n    order by k.stamp desc limit 1)':
        'null',
    },
    killers: ['stream/interleaving.pg.test.ts'],
  },
  {
    name: 'an organization that another database serves is written here',
    file: commit,
    change: { 'if v_away is not null then': 'if false then' },
    killers: ['stream/commit-function.pg.test.ts'],
    titled: 'another database serves',
  },
  {
    name: 'an organization that is gone is written',
    file: commit,
    change: { 'if not found then': 'if false then' },
    killers: ['stream/commit-function.pg.test.ts'],
    titled: 'is gone',
  },
  {
    name: 'a call waits for the clock row without end',
    file: commit,
    change: {
      "set_config('lock_timeout', p_limits.lock_timeout, true)": "set_config('lock_timeout', '0', true)",
    },
    killers: ['stream/waits-for-lock.pg.test.ts'],
    titled: 'wait less',
  },
  {
    name: 'a call waits for other rows as it did for the clock row',
    file: commit,
    change: { "v_set := set_config('lock_timeout', p_limits.row_timeout, true);": 'null;' },
    killers: ['stream/waits-for-lock.pg.test.ts'],
    titled: 'wait less',
  },

  // What a call may hold.
  {
    name: 'two units of a call have a unique value in common',
    file: 'journal/group-commit.ts',
    change: { 'keys.push(change.id, ...uniqueKeys(change))': 'keys.push(change.id)' },
    killers: ['stream/group-commit.test.ts'],
  },
  {
    name: 'a call that fails fails all its units',
    file: 'journal/group-commit.ts',
    change: {
      'const smaller = rolledBack(error) ? smallerCalls(parts, error) : []': 'const smaller: Part[] = []',
    },
    killers: ['stream/group-commit.test.ts'],
  },

  // 2. Repeated requests.
  {
    name: 'a repeated request is made again',
    file: commit,
    change: { 'if p_limits.have_responses then\n    v_refusals': 'if false then\n    v_refusals' },
    killers: ['stream/commit-function.pg.test.ts'],
    titled: 'twins',
  },
  {
    name: 'a key is taken for longer than a day',
    file: commit,
    change: { "and k.created_at > p_now - interval '24 hours' order": 'order' },
    killers: ['stream/commit-function.pg.test.ts'],
    titled: 'its key is free',
  },
  {
    name: 'the key of another API key is taken',
    file: commit,
    change: { 'and k.api_key_id = i.api_key_id and': 'and' },
    killers: ['http/idempotency.pg.test.ts'],
    titled: 'belongs to',
  },
  {
    name: 'a key of another path is taken',
    file: commit,
    change: { 'and k.path = i.path and': 'and' },
    killers: ['http/idempotency.pg.test.ts'],
    titled: 'belongs to',
  },
  {
    name: 'a replayed request is made beside its refusal',
    file: commit,
    change: { "if v_refusals <> '[]' then": 'if false then' },
    killers: ['stream/commit-function.pg.test.ts'],
    titled: 'twins',
  },

  // 3. Versions.
  {
    name: 'rows that a unit was decided on may have moved on',
    file: commit,
    change: { 'if p_limits.are_together then': 'if false then' },
    killers: ['messages/races.pg.test.ts'],
    titled: 'a message that was decided before',
  },
  {
    name: 'a refused change leaves its unit to commit',
    file: 'journal/units-of.sql',
    change: { 'where c.unit in (\n    select n.unit from': 'where c.id in (\n    select n.id from' },
    killers: ['http/storage-limits.pg.test.ts'],
    titled: 'moves nothing',
  },

  // 4. Deletes with their consequences.
  {
    name: 'a removal leaves its dependents',
    file: commit,
    change: { "while v_gone <> '{}' loop": 'while false loop' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },
  {
    name: 'the dependents of dependents stay',
    file: commit,
    change: { 'v_gone := v_next;': "v_gone := '{}';" },
    killers: ['http/erase.pg.test.ts'],
    titled: 'what others have',
  },
  {
    name: 'an erase takes what refers to what it takes',
    file: commit,
    change: { 'v_erases := false;': 'null;' },
    killers: ['http/erase.pg.test.ts'],
    titled: 'what others have',
  },
  {
    name: 'earlier payloads of what is removed are kept',
    file: commit,
    change: { 'unnest(v_written) g where g.rows < 0;': 'unnest(v_written) g where false;' },
    killers: ['retention/maintenance.pg.test.ts'],
    titled: 'stored payloads',
  },
  {
    name: 'earlier payloads of dependents are kept',
    file: commit,
    change: {
      'unnest(v_written) g where g.rows < 0;': 'unnest(v_written) g where g.rows < 0 and g.tail is not null;',
    },
    killers: ['retention/erasure.pg.test.ts'],
    titled: 'a day after',
  },
  {
    name: 'earlier payloads of what is detached are erased whole',
    file: commit,
    change: { 'unnest(v_written) g where g.rows < 0;': 'unnest(v_written) g;' },
    killers: ['retention/erasure.pg.test.ts'],
    titled: 'the reference alone',
  },

  // 5. Refusals.
  {
    name: 'nothing is checked',
    file: commit,
    change: { "if p_limits.checks <> '{}' then": 'if false then' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'values and keys',
  },
  {
    name: 'what a check refuses is written',
    file: commit,
    change: {
      'p_limits.checks, v_refused);\n    end if;\n    -- end kind\n    v_refused := units_of(v_changes, v_refusals);':
        'p_limits.checks, v_refused);\n    end if;\n    -- end kind',
    },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },
  {
    name: 'what is beyond a limit is written',
    file: commit,
    change: {
      'beyond_limits(p_organization_id, p_limits, v_changes, v_refused);\n    v_refused := units_of(v_changes, v_refusals);':
        'beyond_limits(p_organization_id, p_limits, v_changes, v_refused);',
    },
    killers: ['http/storage-limits.pg.test.ts'],
    titled: 'of all kinds together',
  },
  {
    name: 'refused inserts count towards the limit',
    file: 'journal/beyond-limits.sql',
    change: { 'and c.id <> all(p_refused) window': 'window' },
    killers: ['http/storage-limits.pg.test.ts'],
    titled: 'as many as fit',
  },
  {
    name: 'one row fewer than the limit is stored',
    file: 'journal/beyond-limits.sql',
    change: { 'over earlier > p_limits.max_rows': 'over earlier >= p_limits.max_rows' },
    killers: ['http/storage-limits.pg.test.ts'],
    titled: 'of all kinds together',
  },
  {
    name: 'each insert of a call has the remaining bytes to itself',
    file: 'journal/beyond-limits.sql',
    change: { 'v_bytes + sum(c.bytes) over earlier >': 'v_bytes + c.bytes >' },
    killers: ['http/storage-limits.pg.test.ts'],
    titled: 'a batch stops',
  },
  {
    name: 'the last inserts of a call come before the limit',
    file: 'journal/beyond-limits.sql',
    change: { 'order by c.ordinality': 'order by c.ordinality desc' },
    killers: ['http/storage-limits.pg.test.ts'],
    titled: 'as many as fit',
  },
  {
    name: 'changes count as new rows',
    file: 'journal/beyond-limits.sql',
    change: { "where c.operation = 'insert'": "where c.operation in ('insert', 'update')" },
    killers: ['http/storage-limits.pg.test.ts'],
    titled: 'can be changed',
  },
  {
    name: 'stored responses are free',
    file: 'journal/beyond-limits.sql',
    change: {
      'where k.organization_id = p_organization_id;':
        "where k.organization_id = p_organization_id and k.kind <> 'stored response';",
    },
    killers: ['http/storage-limits.pg.test.ts'],
    titled: 'count as bytes',
  },

  // 6. Writes.
  {
    name: 'refused changes are written',
    file: commit,
    change: { 'v_heads, v_operations, v_refused)': "v_heads, v_operations, '{}')" },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },
  {
    name: 'only new rows are written',
    file: commit,
    change: { "'{insert __kind__,update __kind__}'": "'{insert __kind__}'" },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'outdated row',
  },

  // 7. Stored responses.
  {
    name: 'no response is stored',
    file: commit,
    change: { 'where c.response is not null and w.tail is not null': 'where false' },
    killers: ['stream/commit-function.pg.test.ts'],
    titled: 'twins',
  },
  {
    name: 'a change whose row goes with another keeps a response',
    file: commit,
    change: { 'where c.response is not null and w.tail is not null': 'where c.response is not null' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },
  {
    name: 'nobody knows what a stored response is about',
    file: commit,
    change: { "jsonb_build_object('subject_id', w.id,": "jsonb_build_object('subject_id', null," },
    killers: ['retention/maintenance.pg.test.ts'],
    titled: 'answer was erased',
  },
  {
    name: 'a stored response has the representation in place of its own body',
    file: commit,
    change: { "coalesce(c.response->>'body', v_receipt, w.body)": 'coalesce(v_receipt, w.body)' },
    killers: ['http/batch.pg.test.ts'],
    titled: 'same batch twice',
  },
  {
    name: 'the stored response of an erase has no receipt',
    file: commit,
    change: { "coalesce(c.response->>'body', v_receipt, w.body)": "coalesce(c.response->>'body', w.body)" },
    killers: ['http/erase.pg.test.ts'],
    titled: 'repeated with|its repetition',
  },
  {
    name: 'stored responses are not counted',
    file: commit,
    change: { 'v_written := v_written || store_responses(': 'v_made := store_responses(' },
    killers: ['http/storage-limits.pg.test.ts'],
    titled: 'are counted as',
  },
  {
    name: 'a response that replaces an expired one takes its bytes from the count',
    file: 'journal/store-responses.sql',
    change: { 'counted = k.counted + excluded.counted': 'counted = excluded.counted' },
    killers: ['http/storage-limits.pg.test.ts'],
    titled: 'are counted as',
  },
  {
    name: 'the receipt of an erase leaves out kinds of which nothing went',
    file: 'journal/erasure-receipt.sql',
    change: { 'from unnest(p_kinds) u(kind))) a': 'from unnest(p_kinds) u(kind) where false)) a' },
    killers: ['http/erase.pg.test.ts'],
    titled: 'alone',
  },
  {
    name: 'the receipt of an erase counts what was only detached',
    file: 'journal/erasure-receipt.sql',
    change: { 'where w.kind = k.kind and w.rows < 0': 'where w.kind = k.kind' },
    killers: ['http/erase.pg.test.ts'],
    titled: 'what others have',
  },
  {
    name: 'the receipt of an erase has the digest of versions as that of contents',
    file: 'journal/erasure-receipt.sql',
    change: { 'digest_text(a.content_digest)': 'digest_text(a.digest)' },
    killers: ['http/erase.pg.test.ts'],
    titled: 'receipt',
  },

  // 8. Events and counters.
  {
    name: 'an event is about another object',
    file: commit,
    change: { 'v_stamp, w.kind, w.id,\n': 'v_stamp, w.kind, v_written[1].id,\n' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },
  {
    name: 'an event has the time of the clock and not the stamp',
    file: commit,
    change: { 'e.type, v_stamp, w.kind': 'e.type, p_now, w.kind' },
    killers: ['stream/interleaving.pg.test.ts', 'stream/clock-skew.pg.test.ts'],
  },
  {
    name: 'every event of a change has its body',
    file: commit,
    change: { 'case e.place when 1 then w.body end': 'w.body' },
    killers: ['http/events.pg.test.ts'],
    titled: 'a PATCH of a status',
  },
  {
    name: 'the first event of a change has no body',
    file: commit,
    change: { 'case e.place when 1 then w.body end': 'null' },
    killers: ['http/events.pg.test.ts'],
    titled: 'with the bytes',
  },
  {
    name: 'a change has only its first event',
    file: commit,
    change: { '(select generate_subscripts(w.events, 1) as place) p': '(select 1 as place) p' },
    killers: ['http/events.pg.test.ts'],
    titled: 'a PATCH of a status',
  },
  {
    name: 'events of a change do not find its body',
    file: commit,
    change: { 'event_of_change(w.event_id, e.place)': 'event_of_change(new_uuid_v7(v_stamp), e.place)' },
    killers: ['http/events.pg.test.ts'],
    titled: 'a PATCH of a status',
  },
  {
    name: 'what a change changed is lost',
    file: commit,
    change: { 'w.trace_context, w.changed, w.cause\n': 'w.trace_context, null, w.cause\n' },
    killers: ['delivery/conditions.pg.test.ts'],
    titled: 'when a change changed',
  },
  {
    name: 'who caused a change is lost',
    file: commit,
    change: { 'w.trace_context, w.changed, w.cause\n': 'w.trace_context, w.changed, null\n' },
    killers: ['delivery/actor.pg.test.ts'],
    titled: 'an endpoint that asks',
  },
  {
    name: 'counters are those of the time of the clock, and not of the stamp',
    file: commit,
    change: { 'select p_organization_id, v_stamp, a.kind': 'select p_organization_id, p_now, a.kind' },
    killers: ['stream/clock-skew.pg.test.ts'],
    titled: 'whatever processes',
  },
  {
    name: 'counters go on from nothing',
    file: 'journal/counters-after.sql',
    change: {
      'where k.organization_id = p_organization_id and k.kind between': 'where false and k.kind between',
    },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },
  {
    name: 'counters go on from the first commit, and not from the latest',
    file: 'journal/counters-after.sql',
    change: { 'order by k.kind desc, k.stamp desc': 'order by k.kind, k.stamp' },
    killers: ['stream/commit-function.pg.test.ts'],
    titled: 'digest',
  },
  {
    name: 'removals are not counted',
    file: 'journal/counters-after.sql',
    change: { 'count(*) filter (where u.rows < 0) as removed': '0 as removed' },
    killers: ['stream/commit-outcomes.pg.test.ts'],
    titled: 'a removal takes',
  },
  {
    name: 'the digest of versions is that of the last commit alone',
    file: 'journal/counters-after.sql',
    change: { 'coalesce(c.digest, 0) + w.term,': 'w.term,' },
    killers: ['stream/commit-function.pg.test.ts'],
    titled: 'the digest is the sum',
  },
  {
    name: 'the highest bit of a digest is turned where it is shown',
    file: 'journal/body.sql',
    change: { '+ 27670116110564327424': '+ 18446744073709551616' },
    killers: ['http/erase.pg.test.ts'],
    titled: 'the receipt counts',
  },
  {
    name: 'the digest of contents is that of the last commit alone',
    file: 'journal/counters-after.sql',
    change: { 'coalesce(c.content_digest, 0) + w.content\n': 'w.content\n' },
    killers: ['stream/commit-function.pg.test.ts'],
    titled: 'content digest',
  },
  {
    name: 'the last number is forgotten where a commit gives none',
    file: 'journal/counters-after.sql',
    change: { 'greatest(c.last_number, w.number)': 'w.number' },
    killers: ['stream/commit-function.pg.test.ts'],
    titled: 'numbers',
  },
]
