/** An installation of several databases, and services on all of them. */
import { join } from 'node:path'
import { createOrganization, systemClock } from '@deskwire/service'
import { hashToken } from '../../packages/service/src/auth/token.ts'
import { createDirectory } from '../../packages/service/src/databases/directory.ts'
import { type EmbeddedServer, openServer } from '../../packages/testbed/embedded-server.ts'
import { type Organization, standingUntil } from './installation.ts'

/** A database and its location. */
export interface DatabaseOfMany {
  readonly name: string
  readonly server: Pick<EmbeddedServer, 'url' | 'pool'>
}

/** Of sealed signing secrets. */
export const encryptionKey = Buffer.alloc(32, 7)

/** For services and commands; the first has the directory. */
export function databasesFlag(databases: readonly DatabaseOfMany[]): readonly string[] {
  return ['--databases', databases.map(({ name, server }) => `${name} ${server.url}`).join(';')]
}

/** For services. */
export const keyFlag = ['--encryption-key', encryptionKey.toString('base64')]

/** A server with this name in this directory, until the stack ends. It is empty. */
export async function openNamed(stack: AsyncDisposableStack, dataDir: string, name: string) {
  const server = await openServer(join(dataDir, name))
  stack.defer(standingUntil(async () => server[Symbol.asyncDispose]()))
  return { name, server }
}

/** A new organization in one of these migrated databases. */
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
