// A program beside the one that embeds the server: finds the running server and uses it. `query` prints the rows of each statement;
// `insert` inserts numbers one by one, each acknowledged before the next, until the connection breaks: one is always under way, and the
// processor is left to what is tested.
import { Client } from 'pg'
import { launcher } from './launcher.fixture.ts'

const [dataDir, verb, user, ...statements] = process.argv.slice(2)
const say = (event: Record<string, unknown>) => process.stdout.write(`${JSON.stringify(event)}\n`)

try {
  const connection = await launcher.find(dataDir!)
  if (connection === null) {
    say({ event: 'none' })
  } else {
    const client = new Client({ ...connection, user: user! })
    client.on('error', () => {}) // the statement in flight fails as well
    try {
      await client.connect()
      if (verb === 'query')
        for (const text of statements) {
          say({ event: 'started' })
          const { rows } = await client.query(text)
          say({ event: 'rows', rows })
        }
      if (verb === 'insert') {
        await client.query('create table if not exists kept (n int primary key)')
        for (let n = 1; ; n++) {
          await client.query('insert into kept select $1 from pg_sleep(0.002)', [n])
          say({ event: 'acknowledged', n })
        }
      }
    } finally {
      // Also after a statement that failed: an open connection would keep this process.
      await client.end()
    }
  }
} catch (error) {
  const { name, message } = error as Error
  say({ event: 'failed', name, message })
}
