/** Faults in the last part of a commit: `delivery/queue/create-deliveries.sql`, which makes the deliveries. */
import type { Fault } from './fault.ts'

const create = 'delivery/queue/create-deliveries.sql'

export const deliveryFaults: readonly Fault[] = [
  {
    name: 'an endpoint that is disabled gets deliveries',
    file: 'delivery/queue/active-endpoints.sql',
    change: { " and w.status = 'active'": '' },
    killers: ['delivery/created.pg.test.ts'],
  },
  {
    name: 'no deliveries are created',
    file: 'journal/commit.sql',
    change: { 'if v_endpoints is not null then': 'if false then' },
    killers: ['delivery/created.pg.test.ts'],
  },
  {
    name: 'only an endpoint that subscribes to every event of a commit gets deliveries',
    file: 'journal/commit.sql',
    change: { 'where a.events && array(': 'where a.events @> array(' },
    killers: ['delivery/created.pg.test.ts'],
  },
  {
    name: 'an endpoint gets events that it does not subscribe to',
    file: create,
    change: { 'on w.events && event_patterns(e.event_type)': 'on true' },
    killers: ['delivery/created.pg.test.ts'],
  },
  {
    name: 'an event is delivered twice',
    file: create,
    change: { 'join unnest(p_events) e on': 'cross join generate_series(1, 2) join unnest(p_events) e on' },
    killers: ['delivery/created.pg.test.ts'],
  },
  {
    name: 'only the first event of a commit is delivered',
    file: create,
    change: { 'join unnest(p_events) e on': 'join unnest(p_events[1:1]) e on' },
    killers: ['delivery/created.pg.test.ts'],
  },
  {
    name: 'a thousand deliveries are left to workers',
    file: create,
    change: {
      'if cardinality(p_events) > __large__ /': 'if cardinality(p_events) >= __large__ /',
      'sum(t.count) > __large__': 'sum(t.count) >= __large__',
    },
    killers: ['delivery/large-commit.pg.test.ts'],
    titled: '1,000 deliveries',
  },
  {
    name: 'more than a thousand deliveries are made by the commit',
    file: create,
    change: { 'if v_large then': 'if false then' },
    killers: ['delivery/large-commit.pg.test.ts'],
    titled: 'of 1,001',
  },
  {
    name: 'the conditions of an endpoint do not hold back',
    file: create,
    change: { "case when w.options ?| '{conditions,skipOwn}'": 'case when false' },
    killers: ['delivery/conditions.pg.test.ts'],
    titled: 'when a change changed',
  },
  {
    name: 'an idle queue does not become due',
    file: create,
    change: { 'elsif v_idle is not null then': 'elsif false then' },
    killers: ['delivery/created.pg.test.ts'],
  },
  {
    name: 'the worker that holds a queue is not notified',
    file: create,
    change: {
      'filter (where q.lease_id is not null or coalesce(q.due_at > p_now, true)':
        'filter (where q.lease_id is null and coalesce(q.due_at > p_now, true)',
    },
    killers: ['delivery/told.pg.test.ts'],
    titled: 'a commit notifies',
  },
  {
    name: 'deliveries wait for the stamp where clocks are far apart',
    file: create,
    change: { 'case when v_apart then p_now else p_stamp end': 'p_stamp' },
    killers: ['delivery/created.pg.test.ts'],
  },
]
