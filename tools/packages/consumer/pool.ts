/** A pool of one's own, where there are the types of pg as well. It is compiled, and not run. */
import { migrate, schemaOf } from '@deskwire/service/administration'
import { Pool } from 'pg'

export async function upToDate(connectionString: string): Promise<readonly string[]> {
  const pool = new Pool({ connectionString })
  try {
    return await migrate(pool, schemaOf())
  } finally {
    await pool.end()
  }
}
