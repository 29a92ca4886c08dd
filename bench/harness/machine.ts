import { cpus, totalmem } from 'node:os'
import { install } from './installation.ts'

/** One line a fact, with the database's settings. */
export async function describeMachine(): Promise<string[]> {
  await using installation = await install()
  const settings = ['server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers']
  const { rows } = await installation.pool.query<{ name: string; value: string }>(
    'select s.name, current_setting(s.name) as value from unnest($1::text[]) as s(name)',
    [settings],
  )
  const setting = new Map(rows.map(({ name, value }) => [name, value]))
  const processors = cpus()
  return [
    `processor: ${processors[0]?.model.trim()}, ${processors.length} cores`,
    `memory: ${Math.round(totalmem() / 2 ** 30)} GiB`,
    `Node ${process.versions.node}, PostgreSQL ${setting.get('server_version')} (embedded)`,
    `durability: ${settings
      .slice(1, 4)
      .map((name) => `${name} ${setting.get(name)}`)
      .join(', ')}; shared_buffers ${setting.get('shared_buffers')}`,
  ]
}
