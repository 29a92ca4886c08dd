/** The conformance kit against an organization that is moved from one database to another and back all the while. */
import { expect, test } from 'vitest'
import { systemClock } from '../../../service/src/kernel/timestamps.ts'
import { type Databases, dropSource, moveOrganization } from '../../../service/src/moves/move.ts'
import { severalDatabases } from '../../../testbed/several-databases.ts'
import { createDesk } from '../../src/conform/desk.ts'
import { rules, tryRules } from '../../src/conform/run.ts'

test('every rule holds while the organization goes to and fro', async () => {
  await using several = await severalDatabases()
  const [one, two] = several.served
  if (two === undefined) throw new Error('there is one database')
  const { address } = await several.startApi()
  const { organizationId, token } = await several.newOrganization(0, address)
  const databases: Databases = {
    pools: new Map([one, two].map(({ name, pool }) => [name ?? '', pool])),
    directory: several.directory,
    clock: systemClock,
  }
  let done = false
  let moves = 0
  const moving = (async () => {
    while (!done || moves < 2) {
      const [from, to] = moves % 2 === 0 ? ['one', 'two'] : ['two', 'one']
      const { outcome } = await moveOrganization(databases, organizationId, to as string)
      expect(outcome).toBe('moved')
      await dropSource(databases, organizationId, from as string)
      moves++
    }
  })()
  // A move that fails is told by the wait for it.
  moving.catch(() => {})
  try {
    const findings = await tryRules(createDesk(`${address}/v1`, token), () => {})
    const failures = JSON.stringify(several.logged.filter(({ err }) => err !== undefined))
    expect(
      findings.filter(({ holds }) => !holds),
      failures,
    ).toEqual([])
    expect(findings).toHaveLength(rules.length)
  } finally {
    done = true
    await moving
  }
  expect(moves).toBeGreaterThanOrEqual(2)
})
