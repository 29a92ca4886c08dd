/** A server that refuses a commit for want of space, as PostgreSQL does with a full disk. */
import { expect, test } from 'vitest'
import { testService } from '../../../testbed/service.ts'

test.each(['53100', '53200'])(
  'a change refused with %s is 503, and takes effect when it is sent again',
  async (state) => {
    await using service = await testService()
    const { api, database } = service
    await database.pool.query(`
    create function refuse_row() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file' using errcode = '${state}'; end $$;
    create trigger full_disk before insert on customers for each row execute function refuse_row()`)
    const change = { name: 'Ada', externalId: 'ada' }
    const refused = await api.post('/v1/customers', change)
    expect([refused.status, refused.json.code]).toEqual([503, 'unavailable'])
    expect(refused.json.detail).toContain('nothing was changed')
    await database.pool.query('drop trigger full_disk on customers')
    expect((await api.post('/v1/customers', change)).status).toBe(201)
  },
)
