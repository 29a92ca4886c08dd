/** `organizations move`, and what belongs to it: `organizations drop-source` and `organizations balance`. */

import { constants, setPriority } from 'node:os'
import {
  abortMove,
  type Databases,
  dropSource,
  moveOrganization,
  proposeMoves,
  readDatabaseClock,
  readLoad,
} from '@deskwire/service/administration'
import type { Command } from '../command.ts'
import { databaseHelp, readCommand, withInstallation } from '../database.ts'
import { readId } from '../ids.ts'
import { table } from '../table.ts'
import { plain, printOut, screen } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

type OpenOptions = Parameters<typeof withInstallation>[0]

export const organizationsMove: Command = {
  help: () => `deskwire organizations move ID --to NAME: move an organization to another database, while it works.

  ID                     the organization
  --to NAME              the database, as DESKWIRE_DATABASES names it
  --abort                undo an unfinished move, before the cutover
  --json                 print JSON
${databaseHelp}
The command copies and compares everything while writers work, then cuts over: its writes wait some hundredths of a second. Cursors, entity
tags, keys, endpoints, retries and recoveries go on there. Killed at any moment it does no harm: run it again, and it goes on. The
source keeps its rows and refuses writes until deskwire organizations drop-source removes them.

Exit codes: 0 when it is there, now or already; 1 when it could not be moved, and the line says why; 2 for a wrong command line.

Example:
  deskwire organizations move 01980000-0000-7000-8000-000000000001 --to second
`,
  async run(args) {
    const { words, given, switches, json, config } = readCommand(args, ['to'], 1, ['abort'])
    const organizationId = readId(words[0], 'organizations move needs the id of an organization')
    const { to } = given
    if (switches.abort === true) {
      await withDatabases({ config }, async (databases) => {
        const outcome = await abortMove(databases, organizationId)
        const line =
          outcome === 'none'
            ? `no move of organization ${organizationId} was begun`
            : `the move of organization ${organizationId} was taken back`
        printOut(json ? `${JSON.stringify({ organizationId, outcome })}\n` : `${line}\n`)
      })
      return
    }
    if (to === undefined) throw new UsageError('organizations move needs --to with the name of a database')
    // A service on this machine goes first.
    setPriority(constants.priority.PRIORITY_LOW)
    await withDatabases({ config }, async (databases) => {
      const { outcome, from, rows, paused } = await moveOrganization(databases, organizationId, to, {
        onProgress({ phase, rows }) {
          screen.line(`${phase}: ${rows} rows are copied `)
        },
      })
      screen.line('')
      const waited = paused === null ? '' : `, and writes waited ${Math.ceil(paused)} ms`
      const line =
        outcome === 'unchanged'
          ? `organization ${organizationId} is in ${to} already`
          : `organization ${organizationId} is in ${to}: ${rows} rows were copied${waited}\nwhat is left of it in ${from}: deskwire organizations drop-source ${organizationId} --from ${from}`
      printOut(
        json ? `${JSON.stringify({ organizationId, outcome, from, to, rows, paused })}\n` : `${line}\n`,
      )
    })
  },
}

export const organizationsDropSource: Command = {
  help: () => `deskwire organizations drop-source ID --from NAME: remove what a move has left behind in a database.

  ID                     the organization
  --from NAME            the database that it has left, as DESKWIRE_DATABASES names it
  --json                 print JSON
${databaseHelp}
Refused for the database that has the organization. Killed at any moment it does no harm: run it again, and it goes on.

Example:
  deskwire organizations drop-source 01980000-0000-7000-8000-000000000001 --from first
`,
  async run(args) {
    const { words, given, json, config } = readCommand(args, ['from'], 1)
    const organizationId = readId(words[0], 'organizations drop-source needs the id of an organization')
    const { from } = given
    if (from === undefined)
      throw new UsageError('organizations drop-source needs --from with the name of a database')
    await withDatabases({ config }, async (databases) => {
      const rows = await dropSource(databases, organizationId, from)
      printOut(
        json
          ? `${JSON.stringify({ organizationId, from, rows })}\n`
          : `nothing is left of organization ${organizationId} in ${from}: ${rows} rows were removed\n`,
      )
    })
  },
}

export const organizationsBalance: Command = {
  help: () => `deskwire organizations balance: say which organizations to move, so that databases have about as much to hold and to do.

  --most N               how many moves to propose at most (10)
  --json                 print JSON: {databases: […], moves: […]}
${databaseHelp}
It compares the bytes that organizations store, and their events of the last day. It moves nothing.

Example:
  deskwire organizations balance --json | jq -r '.moves[] | "deskwire organizations move \\(.organizationId) --to \\(.to)"'
`,
  async run(args) {
    const { given, json, config } = readCommand(args, ['most'])
    const most = Number(given.most ?? 10)
    if (!Number.isSafeInteger(most) || most < 1) throw new UsageError('--most must be a whole number from 1')
    await withDatabases({ config }, async ({ pools, clock }) => {
      const loads = await Promise.all([...pools].map(([name, pool]) => readLoad(name, pool, clock)))
      const moves = proposeMoves(loads, most)
      const databases = loads.map(({ name, organizations }) => ({
        name,
        organizations: organizations.length,
        bytes: organizations.reduce((sum, { bytes }) => sum + bytes, 0),
        changes: organizations.reduce((sum, { changes }) => sum + changes, 0),
      }))
      printOut(json ? `${JSON.stringify({ databases, moves })}\n` : shown(databases, moves))
    })
  },
}

function shown(
  databases: readonly { readonly name: string; organizations: number; bytes: number; changes: number }[],
  moves: ReturnType<typeof proposeMoves>,
): string {
  const rows = databases.map((one) => [one.name, ...[one.organizations, one.bytes, one.changes].map(String)])
  const lines = moves.map(
    ({ organizationId, to, bytes, changes, name }) =>
      `deskwire organizations move ${organizationId} --to ${to}  # ${bytes} bytes, ${changes} changes a day: ${plain(name)}\n`,
  )
  const heading = table([['DATABASE', 'ORGANIZATIONS', 'BYTES', 'CHANGES A DAY'], ...rows])
  return `${heading}\n${moves.length === 0 ? 'nothing is worth moving\n' : lines.join('')}`
}

/** All databases of the installation, for as long as `work` takes. */
async function withDatabases(
  command: OpenOptions,
  work: (databases: Databases) => Promise<void>,
): Promise<void> {
  await withInstallation(command, async ({ databases, directory }) => {
    if (directory === null)
      throw new UsageError(
        'there is one database: DESKWIRE_DATABASES names several, each with a name (deskwire serve --help)',
      )
    const pools = new Map(databases.map(({ name, pool }) => [name ?? '', pool]))
    await work({ pools, directory, clock: await readDatabaseClock(databases[0].pool) })
  })
}
