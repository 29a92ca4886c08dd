import type { Pool, PoolClient } from 'pg'

declare const inTransaction: unique symbol

/** A connection inside a transaction. A function that takes a Tx is part of its caller's commit. */
export type Tx = Pick<PoolClient, 'query'> & { readonly [inTransaction]: true }

export async function transaction<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('begin')
    const result = await work(client as unknown as Tx)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError
    })
    throw error
  } finally {
    client.release(broken)
  }
}
