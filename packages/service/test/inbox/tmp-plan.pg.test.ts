import { test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { testDatabase } from '../../../testbed/database.ts'
import { newId } from '../../src/kernel/ids.ts'
import { inboxStatement } from '../../src/inbox/read.ts'
import { writeFileSync } from 'node:fs'

test('plan', async () => {
  await using database = await testDatabase()
  const org = newId(testClock())
  let out = ''
  await database.pool.query(`insert into conversations (organization_id,id,created_at,updated_at,body,status)
    select $1::uuid, md5('c'||n)::uuid, timestamptz '2026-01-01'+n*interval '1 minute', timestamptz '2026-01-01'+n*interval '1 minute','{"object":"conversation","subject":"'||repeat('s',300)||'"}',
    case when n % 20 = 0 then 'open' else 'resolved' end from generate_series(1,100000) n`, [org])
  await database.pool.query(`insert into messages (organization_id,id,created_at,updated_at,body,conversation_id,direction)
    select $1::uuid, md5('m'||n)::uuid, timestamptz '2026-01-01'+n*interval '1 second', timestamptz '2026-01-01'+n*interval '1 second','{"object":"message","author":{"type":"'||case when n%3=0 then 'customer' else 'ai' end||'"},"body":"'||repeat('s',400)||'","sentAt":"2026-01-31T09:30:00.000Z"}',
    md5('c'||(1+(n*7919::bigint)%100000))::uuid, case when n % 3 = 0 then 'inbound' else 'outbound' end from generate_series(1,800000) n`, [org])
  await database.pool.query('vacuum analyze conversations'); await database.pool.query('vacuum analyze messages')
  for (const open of [5000, 100000]) {
    if (open === 100000) { await database.pool.query("update conversations set status='open'"); await database.pool.query('vacuum analyze conversations') }
    for (const awaitingReply of ['true', null] as const) {
      const { text, values } = inboxStatement(org, { limit: 50, after: null, afterSince: null, awaitingReply, conditions: [] }, true)
      await database.pool.query(text, [...values])
      const r = await database.pool.query(`explain (analyze, buffers) ${text}`, [...values])
      out += `\n=== open ${open} awaiting ${awaitingReply}\n` + r.rows.map((x: any) => x['QUERY PLAN']).join('\n')
    }
  }
  writeFileSync('/tmp/inbox-plan.txt', out)
}, 220_000)
