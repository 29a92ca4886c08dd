/** What the analysis of statements finds, and what it does not take for a name. */
import { expect, test } from 'vitest'
import { namingOf, statementsIn } from './named-organization.ts'

const named: Readonly<Record<string, readonly number[]>> = {
  'select t.id from tickets t where t.organization_id = $1 and t.id = $2': [1],
  'select t.id from tickets t join customers c on c.organization_id = t.organization_id where c.organization_id = $2::uuid':
    [2],
  'select t.id from tickets t join customers c using (organization_id) where t.organization_id = $1': [1],
  'select t.id from tickets t, lateral (select 1 from customers c where c.organization_id = t.organization_id) x where t.organization_id = $1':
    [1],
  'with one as (select c.organization_id, c.id from customers c where c.organization_id = $1) select 1 from one o join tickets t on (t.organization_id, t.customer_id) = (o.organization_id, o.id)':
    [1],
  'select s.id from (select c.organization_id, c.id from customers c union all select t.organization_id, t.id from tickets t) s where s.organization_id = $1':
    [1],
  'select w.id from customers_words w where w.terms = $2 and (w.organization_id = $1) is true': [1],
  'insert into customers (id, organization_id) values ($1, $2), ($3, $2) on conflict (organization_id, id) do update set body = excluded.body':
    [2],
  'insert into tickets (organization_id, id) select c.organization_id, c.id from customers c where c.organization_id = $1':
    [1],
  'update tickets t set body = x.body from customers x where x.organization_id = $1 and t.organization_id = x.organization_id':
    [1],
  'delete from tickets where organization_id = $1 and id in (select c.id from customers c where c.organization_id = $1)':
    [1],
  'select commit_0123456789ab($1, $2) from organizations o where o.organization_id = $1': [1],
  'select commit_0123456789ab($2, $1) from organizations o where o.organization_id = $1': [1, 2],
  'select i.key_check from installation i': [],
  'select 1 from customers c where c.organization_id = $1 and exists (select 1 from tickets t where t.organization_id = $2)':
    [1, 2],
}

test.each(Object.entries(named))('%s', (sql, parameters) => {
  expect(namingOf(sql)).toEqual({ unnamed: [], parameters, variables: [] })
})

const unnamed: Readonly<Record<string, readonly string[]>> = {
  'select t.id from tickets t where t.id = $1': ['tickets'],
  'select t.id from tickets t where t.organization_id = $1 or t.id = $2': ['tickets'],
  'select t.id from tickets t where t.organization_id = any($1)': ['tickets'],
  'select t.id from tickets t join customers c on c.id = t.customer_id where t.organization_id = $1': [
    'customers',
  ],
  'select t.id from tickets t where t.organization_id = $1 and exists (select 1 from customers c where c.id = t.customer_id)':
    ['customers'],
  'select 1 from unnest($1::uuid[]) as k(organization_id) join tickets t on t.organization_id = k.organization_id':
    ['tickets'],
  'select s.id from (select c.organization_id, c.id from customers c union all select null, t.id from tickets t) s where s.organization_id = $1':
    ['customers', 'tickets'],
  'insert into customers (id) values ($1)': ['customers'],
  'update tickets set body = $1': ['tickets'],
  'select commit_0123456789ab($1, $2)': ['commit()'],
}

test.each(Object.entries(unnamed))('%s names none', (sql, tables) => {
  expect(namingOf(sql).unnamed).toEqual(tables)
})

test('statements of functions are found, and named by their variables', () => {
  const statements = statementsIn(
    `create function f(p_organization_id uuid) returns uuid language plpgsql as $$
     declare v_found uuid; begin
       select c.id into v_found from customers c where c.organization_id = p_organization_id;
       if exists (select 1 from tickets t where t.id = v_found) then
         perform 1 from bookings b;
       end if;
       v_found := (select m.id from messages m);
       return v_found; end $$`,
  )
  const namings = statements.map(namingOf)
  expect(namings.flatMap(({ unnamed }) => unnamed)).toEqual(['tickets', 'bookings', 'messages'])
  expect(namings.flatMap(({ variables }) => variables)).toEqual(['p_organization_id'])
})
