/** A program with a pool of its own, and the types of pg. It is compiled, and not run. */
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
