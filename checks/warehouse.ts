/**
 * `npm run check -- warehouse`: the guide on mirrors as it is written, with dbt on a copy in DuckDB, and with exports that are uploaded to
 * an S3-compatible store.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createClient } from '../packages/sdk/src/index.ts'
import { newToken } from '../packages/service/src/auth/token.ts'
import { blockWith } from '../packages/testbed/document-programs.ts'
import { eventually } from '../packages/testbed/eventually.ts'
import { freePort } from '../packages/testbed/loopback.ts'
import { startProgram } from '../packages/testbed/program.ts'
import { main } from '../packages/testbed/services.ts'
import { installPython } from '../tools/python.ts'
import { report } from './report.ts'
import { startApi } from './service-process.ts'

const guide = 'docs/guides/mirror.md'
const dbt = installPython('deskwire-dbt', 'checks/consumers/dbt.txt')
const s3 = installPython('deskwire-s3', 'checks/consumers/s3.txt')
const scratch = mkdtempSync(join(tmpdir(), 'deskwire-warehouse-'))
const key = newToken()
const service = await startApi(join(scratch, 'data'), key)
const store = `http://127.0.0.1:${await freePort()}`
const environment = {
  ...process.env,
  PATH: [dirname(process.execPath), dbt, s3, process.env.PATH].join(delimiter),
  DESKWIRE_URL: `${service.url}/v1`,
  DESKWIRE_API_KEY: key,
  DO_NOT_TRACK: '1',
  DBT_SEND_ANONYMOUS_USAGE_STATS: 'false',
  AWS_ENDPOINT_URL: store,
  AWS_ACCESS_KEY_ID: 'any',
  AWS_SECRET_ACCESS_KEY: 'any',
  AWS_DEFAULT_REGION: 'us-east-1',
}

try {
  const client = createClient({ baseUrl: `${service.url}/v1`, apiKey: key })
  const { id: customerId } = await client.customers.create({ name: 'Ada', tags: ['vip'] })
  for (const subject of ['One', 'Two']) await client.tickets.create({ customerId, subject })
  await tryDbt()
  await tryUploads(customerId)

  async function tryUploads(of: string): Promise<void> {
    const { port } = new URL(store)
    await using _ = startProgram(join(s3, 'moto_server'), ['-p', port], { cwd: scratch })
    await eventually('the store answers', () => shell(`aws s3 mb s3://desk`).status === 0)
    writeFileSync(join(scratch, 'upload.sh'), blockWith(guide, 'sh', 'aws s3'))
    const line = asRun(blockWith(guide, '', 'parquet:lake').replace('--every 1h', '--every 2s'))
    await using mirror = startProgram('bash', ['-c', line], { cwd: scratch, env: environment, group: true })
    const uploaded = () => shell('aws s3 cp s3://desk/latest -').stdout.trim()
    await eventually('an export is uploaded', () => uploaded() !== '')
    const first = uploaded()
    await client.tickets.create({ customerId: of, subject: 'Three' })
    const files = () => shell(`aws s3 cp --quiet --recursive "s3://desk/$(aws s3 cp s3://desk/latest -)" got`)
    const manifest = () => JSON.parse(readFileSync(join(scratch, 'got/manifest.json'), 'utf8'))
    await eventually(
      'the ticket is there',
      () => files().status === 0 && manifest().checkpoint.ticket.count === 3,
    )
    const rows = python(
      "select count(*) from 'got/tickets.parquet' join 'got/customers.parquet' c on c.id = customer_id",
    )
    report(`uploads: ${first}, then ${uploaded()} with ${rows} tickets`, first < uploaded() && rows === '3')
    await mirror.end('SIGTERM')
  }
} finally {
  await service.end('SIGTERM')
  rmSync(scratch, { recursive: true, force: true })
}

async function tryDbt(): Promise<void> {
  mkdirSync(join(scratch, 'models'))
  writeFileSync(join(scratch, 'dbt_project.yml'), 'name: desk\nprofile: desk\n')
  writeFileSync(join(scratch, 'profiles.yml'), blockWith(guide, 'yaml', 'attach:'))
  writeFileSync(join(scratch, 'models/open_tickets.sql'), blockWith(guide, 'jinja', 'source('))
  const [copy = '', sources = ''] = blockWith(guide, '', 'mirror dbt').trim().split('\n')
  await using mirror = startProgram('bash', ['-c', asRun(copy)], {
    cwd: scratch,
    env: environment,
    group: true,
  })
  await eventually('the copy is there', () => mirror.output.stdout.includes('is up to date'))
  await eventually('its file is closed', () => shell(asRun(sources)).status === 0)
  for (const command of ['parse --warn-error', 'source freshness', 'build']) {
    const { status, stdout } = shell(`dbt ${command}`)
    report(`dbt ${command}: ${stdout.trim().split('\n').at(-1)}`, status === 0)
  }
  await mirror.end('SIGTERM')
  const model = python(
    'select name, open_tickets from open_tickets',
    'warehouse.duckdb',
    "attach 'reports.duckdb'",
  )
  report(`the model: ${model}`, model === 'Ada 2')
  const vip = python(`select count(*) from customers where json_contains(tags, '"vip"')`, 'reports.duckdb')
  report(`the query of lists: ${vip}`, vip === '1')
  python(
    'update _deskwire_status set caught_up_at = caught_up_at - interval 2 days returning 1',
    'reports.duckdb',
  )
  report(
    'dbt source freshness of a copy that is two days old fails',
    shell('dbt source freshness').status !== 0,
  )
}

/** As in a checkout, and closed with its process. */
function asRun(line: string): string {
  return `exec ${line.replace('npx deskwire', `node ${main}`)}`
}

function shell(line: string) {
  return spawnSync('bash', ['-c', line], { cwd: scratch, env: environment, encoding: 'utf8' })
}

/** The first row, its values with spaces between them. */
function python(sql: string, file = ':memory:', before = 'select 1'): string {
  const code = `import duckdb, sys; db = duckdb.connect(sys.argv[1]); db.execute(sys.argv[2]); print(*db.execute(sys.argv[3]).fetchone())`
  const words = ['-c', code, file, before, sql]
  const { stdout, stderr } = spawnSync(join(dbt, 'python'), words, { cwd: scratch, encoding: 'utf8' })
  return `${stdout}${stderr}`.trim()
}
