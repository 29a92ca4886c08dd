/** An installation of several databases: organizations in the one or the other, and services on all of them. */
import { join } from 'node:path'
import { createOrganization, systemClock } from '@deskwire/service'
import { hashToken } from '../../packages/service/src/auth/token.ts'
import { createDirectory } from '../../packages/service/src/databases/directory.ts'
import { type EmbeddedServer, openServer } from '../../packages/testbed/embedded-server.ts'
import { type Organization, standingUntil } from './installation.ts'

/** One of the databases, and where it is. */
export interface DatabaseOfMany {
  readonly name: string
  readonly server: Pick<EmbeddedServer, 'url' | 'pool'>
}

/** What their signing secrets are sealed with. */
export const encryptionKey = Buffer.alloc(32, 7)

/** What services and commands are told, so that they are of all of these; the first holds the directory. */
export function databasesFlag(databases: readonly DatabaseOfMany[]): readonly string[] {
  return ['--databases', databases.map(({ name, server }) => `${name} ${server.url}`).join(';')]
}

/** What services are told beside. */
export const keyFlag = ['--encryption-key', encryptionKey.toString('base64')]

/** A server of its own with this name, in this directory, until the stack ends. Nothing is in it yet. */
export async function openNamed(stack: AsyncDisposableStack, dataDir: string, name: string) {
  const server = await openServer(join(dataDir, name))
  stack.defer(standingUntil(async () => server[Symbol.asyncDispose]()))
  return { name, server }
}

/** A new organization in one of these databases. Their schema is there. */
export async function newOrganizationIn(
  [first]: readonly [DatabaseOfMany, ...DatabaseOfMany[]],
  home: DatabaseOfMany,
): Promise<Organization> {
  const directory = createDirectory(first.server.pool, first.name)
  return createOrganization(home.server.pool, systemClock, 'Benchmark', async ({ organizationId, token }) => {
    if (home === first) return
    await directory.place(organizationId, home.name)
    await directory.note(organizationId, [Buffer.from(hashToken(token), 'hex')])
  })
}
