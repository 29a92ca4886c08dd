/** A program that runs the service, or works on an installation. It is compiled, and not run. */
import { readConfig, serve } from '@deskwire/service'
import {
  createOrganization,
  listOrganizations,
  migrate,
  type openDatabaseBeside,
  readDatabaseClock,
  schemaOf,
} from '@deskwire/service/administration'
import { version } from '@deskwire/service/version'

export async function run(): Promise<void> {
  const config = readConfig({ ...process.env, DESKWIRE_PORT: '0' })
  if (!config.ok) throw new Error(`${version}: ${config.error}`)
  await serve(config.value)
}

type OpenDatabase = Awaited<ReturnType<typeof openDatabaseBeside>>

/** The names of all organizations, after creating another. */
export async function organizations({ pool }: OpenDatabase, name: string): Promise<string[]> {
  await migrate(pool, schemaOf())
  await createOrganization(pool, await readDatabaseClock(pool), name)
  const { rows } = await pool.query('SELECT current_user AS name', [])
  return [rows[0].name, ...(await listOrganizations(pool)).map((organization) => organization.name)]
}
