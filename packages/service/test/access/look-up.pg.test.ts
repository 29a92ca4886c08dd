import { expect, test } from 'vitest'
import { testDatabase } from '../../../testbed/database.ts'
import { createLookUp } from '../../src/auth/authenticator.ts'
import { newToken } from '../../src/auth/token.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { createOrganization } from '../../src/organization/create.ts'

test('looking up a token is planned once, not for each request; several at once are told apart', async () => {
  // One connection, whose prepared statements can be seen.
  await using database = await testDatabase({ max: 1 })
  const keys = []
  for (const name of ['a', 'b', 'c']) keys.push(await createOrganization(database.pool, systemClock, name))
  const lookUp = createLookUp(database.pool, systemClock)
  const callers = keys.map(({ organizationId, apiKeyId }) => ({
    outcome: 'authenticated',
    caller: { organizationId, apiKeyId },
  }))
  for (let round = 0; round < 20; round++) {
    const n = round % keys.length
    expect(await lookUp(keys[n]!.token)).toMatchObject(callers[n]!)
  }
  const [unknown, ...found] = await Promise.all([newToken(), ...keys.map(({ token }) => token)].map(lookUp))
  expect(unknown).toEqual({ outcome: 'unknown' })
  expect(found).toMatchObject(callers)
  const { rows } = await database.pool.query(
    "select s.custom_plans::int as custom, s.generic_plans::int as generic from pg_prepared_statements s where s.name = 'recognize_tokens'",
  )
  // The server plans again five times, to see what that gains, and from then on keeps to one plan.
  expect(rows).toEqual([{ custom: 5, generic: 16 }])
})
