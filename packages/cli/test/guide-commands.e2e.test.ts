/**
 * Every block of the README, of the guides and of the packages' READMEs is accounted for: run here, as it is written and with the README's
 * environment; run by another test; shown and no program; or in need of something that this test may not count on.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase } from '../../testbed/database.ts'
import { run as runProgram } from '../../testbed/document-programs.ts'
import { eventually } from '../../testbed/eventually.ts'
import { type DataDir, temporaryDataDir } from '../../testbed/installation.ts'
import { startHttpServer } from '../../testbed/loopback.ts'
import { startProgram } from '../../testbed/program.ts'
import { filesEndingIn, root, textOf } from '../../testbed/repository.ts'
import { environment, main, npmStart, type ServiceProcess } from '../../testbed/services.ts'

type Account =
  | 'here'
  /** A program, run here, and a block after it with what it prints. */
  | 'printed'
  | 'shown'
  | { readonly ranBy: string }
  /** A word of the block, and why it is not run. */
  | { readonly needs: string; readonly because: string }

const ranBy = (file: string): Account => ({ ranBy: file })
const needs = (word: string, because: string): Account => ({ needs: word, because })

const walk = ranBy('packages/cli/test/readme-walk.e2e.test.ts')
const databases = ranBy('packages/cli/test/databases.e2e.test.ts')
const operator = ranBy('checks/operator.ts')
const poolers = ranBy('checks/poolers.ts')
const webhookGuides = ranBy('packages/service/test/docs/webhook-guides.pg.test.ts')
const mirror = ranBy('packages/mirror/test/guide.e2e.test.ts')
const receiving = ranBy('packages/sdk/test/guide.test.ts')
const helpdesks = ranBy('packages/cli/test/import/sources/apis.pg.test.ts')
const sync = ranBy('packages/service/test/guide.pg.test.ts')
const generator = (word: string) =>
  needs(word, 'npm run check -- generators runs it, with registries of packages')
const cluster = needs('kubectl', 'it needs a cluster')
const tarballs = needs(
  '.tgz',
  'npm run check -- packages installs the tarballs, with a registry for their dependencies',
)

/** By document: the beginning of each block, in their order, and its account. One entry may stand for several blocks in a row. */
const accounts: Readonly<Record<string, readonly (readonly [begins: string, account: Account])[]>> = {
  'README.md': [
    ['npm ci && npm start', walk],
    ['import', mirror],
  ],
  'docs/guides/backup.md': [
    ['npx deskwire backup create', 'here'],
    ['npx deskwire backup restore desk', 'here'],
    ['npx deskwire backup mark-restored', 'here'],
  ],
  'docs/guides/bookings.md': [['import', 'printed']],
  'docs/guides/capacity.md': [
    ['DESKWIRE_MAX_ROWS', 'shown'],
    ['select', 'here'],
  ],
  'docs/guides/choosing.md': [['', ranBy('packages/service/test/docs/choosing.pg.test.ts')]],
  'docs/guides/clients.md': [
    ['curl ', 'here'],
    ['cat > config.yaml', generator('openapi-python-client')],
    ['datamodel-codegen', generator('datamodel-codegen')],
    ['oapi-codegen', generator('oapi-codegen')],
    ['openapi-typescript', generator('openapi-typescript')],
    ['start = {', generator('list_customers')],
  ],
  'docs/guides/agents.md': [
    ['claude mcp add', needs('claude', 'it is a client of another maker')],
    ['{ "mcpServers"', 'shown'],
    ['import { createServer', ranBy('packages/mcp/test/ai-sdk.pg.test.ts')],
  ],
  'docs/guides/console.md': [['<iframe', 'shown']],
  'docs/guides/consumers.md': [
    ['import dlt', ranBy('checks/consumers.ts')],
    ['pip install', needs('pip', 'npm run check -- consumers runs it, with a registry of packages')],
  ],
  'docs/guides/conversations.md': [['import', 'printed']],
  'docs/guides/databases.md': [
    ['# The first', 'shown'],
    ['kubectl', cluster],
    ['npx deskwire organizations create', databases],
    ['npx deskwire migrate', databases],
    ['kubectl', cluster],
    ['npx deskwire', databases],
    ['{"status"', 'shown'],
    ['npx deskwire', databases],
    ['npx deskwire', databases],
    ['docker compose', needs('docker', 'npm run check -- image runs it, with images')],
  ],
  'docs/guides/deleting-data.md': [
    ['import', ranBy('packages/service/test/docs/deleting-data.pg.test.ts')],
    ['1 message', 'shown'],
  ],
  'docs/guides/deploying.md': [
    ['podman', needs('podman', 'npm run check -- image runs it, with images')],
    ['useradd', needs('systemctl', 'npm run check -- unit runs it, in a machine with systemd')],
    ['kubectl', cluster],
  ],
  'docs/guides/encryption-key.md': [
    ['openssl', 'here'],
    ['npx deskwire encryption-key rotate', 'here'],
    ['export DESKWIRE_ENCRYPTION_KEY_PREVIOUS', 'here'],
    ['psql …', 'here'],
  ],
  'docs/guides/errors.md': [
    ['import', 'printed'],
    ['{', 'shown'],
  ],
  'docs/guides/handlers.md': [['', webhookGuides]],
  'docs/guides/installing.md': [['', operator]],
  'docs/guides/keys.md': [
    ['const key', 'here'],
    ['{ "id"', 'shown'],
    ['RateLimit-Policy', 'shown'],
  ],
  'docs/guides/lists.md': [['import', 'printed']],
  'docs/guides/local-webhooks.md': [
    ['npm start -- --dev\n', 'here'],
    ['npm start -- --dev --retry', 'here'],
  ],
  'docs/guides/mirror.md': [
    ['npx deskwire mirror run', 'here'],
    ['npx deskwire organizations create-key', 'here'],
    ['npm install', tarballs],
    ['export DESKWIRE_URL', 'here'],
    ['import', mirror],
    ['select', mirror],
    ['select', mirror],
    ['select', mirror],
    ['npx deskwire mirror run --to reports.duckdb', ranBy('checks/warehouse.ts')],
    ['desk:', ranBy('checks/warehouse.ts')],
    ['select', ranBy('checks/warehouse.ts')],
    ['npx deskwire mirror run --to parquet', ranBy('checks/warehouse.ts')],
    ['name=', ranBy('checks/warehouse.ts')],
    ['npx deskwire mirror run --to reports.db', 'here'],
    ['const', mirror],
    ['const', mirror],
  ],
  'docs/guides/moving-in.md': [
    ['npx deskwire import', 'here'],
    ['externalId,name', 'here'],
    ['npx deskwire import tickets', 'here'],
    ['externalId,customerExternalId', 'here'],
    ['export ZENDESK_EMAIL', helpdesks],
    ['export INTERCOM_TOKEN', helpdesks],
    ['const', 'here'],
    [
      'npx deskwire mirror run --to ndjson',
      needs('--profile', 'packages/cli/test/import/transfer.pg.test.ts moves organizations'),
    ],
    ['npx deskwire export', 'here'],
    ['const customers', 'here'],
  ],
  'docs/guides/moving-organizations.md': [
    [
      'deskwire organizations balance',
      needs('deskwire organizations', 'packages/service/test/moves moves, between databases'),
    ],
  ],
  'docs/guides/observing.md': [
    ['# prometheus.yml', 'shown'],
    [
      'npm install @opentelemetry',
      needs('npm install', 'npm run check -- collector runs it, with what a checkout has'),
    ],
  ],
  'docs/guides/operating.md': [
    ['npx deskwire serve', needs('serve', 'packages/cli/test/start.e2e.test.ts starts it in many ways')],
  ],
  'docs/guides/organizations.md': [
    ['npx deskwire organizations create', 'here'],
    ['npx deskwire organizations suspend', 'here'],
    ['npx deskwire organizations delete', 'here'],
  ],
  'docs/guides/postgresql.md': [
    ['create role', poolers],
    ['DESKWIRE_DATABASE_URL', 'shown'],
    ['create role', poolers],
    ['deskwire: ', 'shown'],
    [
      'alter system',
      needs('synchronous_standby_names', 'npm run check -- standby runs it, with two servers'),
    ],
    ['psql -h', 'here'],
  ],
  'docs/guides/proxy.md': [['DESKWIRE_PUBLIC_URL', 'shown']],
  'docs/guides/quickstart.md': [['', walk]],
  'docs/guides/receiving.md': [
    [
      'import { createReceiver',
      needs(
        'expressApp',
        'it is for four frameworks at once: packages/sdk/test/adapters.test.ts has one each',
      ),
    ],
    ['import { SignatureError', receiving],
    ['npx deskwire signature verify', 'here'],
    ['create table', ranBy('packages/sdk/test/seen.pg.test.ts')],
    ['export class', ranBy('packages/sdk/test/seen.pg.test.ts')],
    ['import { testDelivery', receiving],
    ['npx deskwire signature sign', 'here'],
  ],
  'docs/guides/summaries.md': [
    ['Customer:', 'shown'],
    ['DESKWIRE_SUMMARIZER=', 'here'],
    ['curl', 'here'],
  ],
  'docs/guides/sync.md': [
    ['import { createClient, MemoryCopy', 'here'],
    ['import { createHash', sync],
    ['import { changesUpTo', sync],
  ],
  'docs/guides/tenants.md': [
    ['created=', 'here'],
    ['API key', 'shown'],
    ['import { createAdminClient', ranBy('packages/service/test/roles/admin.e2e.test.ts')],
    ['import { type Client', 'here'],
  ],
  'docs/guides/tickets.md': [['import', 'printed']],
  'docs/guides/troubleshooting.md': [
    ['npx deskwire doctor', 'here'],
    ['npx deskwire conform', 'here'],
  ],
  'docs/guides/webhooks-or-sync.md': [['import', webhookGuides]],
  'docs/guides/webhooks.md': [
    ['const webhook', 'here'],
    ['import', webhookGuides],
    ['import', webhookGuides],
    ['import', webhookGuides],
  ],
  'packages/cli/README.md': [['npm install', tarballs]],
  'packages/deskwire/README.md': [['npm install', tarballs]],
  'packages/console/README.md': [['npm run build:pages', needs('npm run', 'npm test runs these')]],
  'packages/embedded-postgres/README.md': [['import', 'here']],
  'packages/mirror/README.md': [
    ['npm install', tarballs],
    ['import', mirror],
  ],
  'packages/sdk/README.md': [
    ['npm install', tarballs],
    ['import', ranBy('packages/sdk/test/readme.test.ts')],
    ['for await (const ticket', 'here'],
    ['for await (const page', 'here'],
    ['const key', 'here'],
    ['const webhook', 'here'],
    ['try {', 'here'],
  ],
  'packages/sdk-python/README.md': [
    ['pip', needs('pip', 'npm run check -- python installs the wheel')],
    ['from deskwire', ranBy('packages/sdk-python/test/test_service.py')],
    ['from deskwire', ranBy('packages/sdk-python/test/test_service.py')],
    ['import os', ranBy('packages/sdk-python/test/test_service.py')],
  ],
  'packages/service/README.md': [['import', 'here']],
  'packages/testbed/README.md': [['await using', needs('testService', 'it is how tests begin')]],
}

const documents = filesEndingIn(['.md']).filter((file) =>
  /^(?:README\.md|docs\/guides\/[\w-]+\.md|packages\/[\w-]+\/README\.md)$/.test(file),
)

/** The blocks of a document, with indentation as in a list taken away. */
function blocksIn(document: string): readonly string[] {
  const blocks = textOf(document).matchAll(/^( *)```\w*\n([\s\S]*?)^\1```$/gm)
  return [...blocks].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
}

const taken = new Set<string>()

/** A block that is accounted for as run here. */
function take(document: string, begins: string): string {
  const entries = accounts[document]?.filter(([start, account]) => account === 'here' && start === begins)
  if (entries?.length !== 1) throw new Error(`${document} has no such block to be run: ${begins}`)
  taken.add(`${document} ${begins}`)
  const block = blocksIn(document).find((one) => one.startsWith(begins))
  if (block === undefined) throw new Error(`${document} has no block that begins so: ${begins}`)
  return block
}

test('every block is accounted for', () => {
  expect(Object.keys(accounts).sort()).toEqual(
    [...documents].filter((file) => blocksIn(file).length > 0).sort(),
  )
  for (const [document, entries] of Object.entries(accounts)) {
    const blocks = [...blocksIn(document)]
    for (const [n, [begins, account]] of entries.entries()) {
      // What begins with anything stands for the rest.
      const these = begins === '' && n === entries.length - 1 ? blocks.splice(0) : blocks.splice(0, 1)
      if (account === 'printed') blocks.splice(0, 1)
      expect([document, begins, these.length > 0]).toEqual([document, begins, true])
      for (const block of these) {
        expect([document, block.trimStart().startsWith(begins.trimEnd()), begins]).toEqual([
          document,
          true,
          begins,
        ])
        if (typeof account === 'object' && 'needs' in account) expect(block).toContain(account.needs)
      }
      if (typeof account !== 'object' || !('ranBy' in account)) continue
      expect([account.ranBy, existsSync(join(root, account.ranBy))]).toEqual([account.ranBy, true])
      expect(textOf(account.ranBy)).toContain(document.split('/').slice(-1)[0])
    }
    expect([document, blocks]).toEqual([document, []])
  }
})

let dataDir: DataDir
let cwd: string
let service: ServiceProcess | null = null
let key: string
/** A receiver on this machine, and what it got. */
const received: string[] = []
let receiver: Awaited<ReturnType<typeof startHttpServer>>

beforeAll(async () => {
  dataDir = await temporaryDataDir({ installed: true })
  cwd = dataDir.parent
  await symlink(join(root, 'node_modules'), join(cwd, 'node_modules'))
  // npx and npm take longer than most commands do; the walk of the quickstart runs them.
  const command = (words: string) => `#!/bin/sh\n${words}\nexec node "${main}" "$@"\n`
  await writeFile(join(cwd, 'npx'), command('shift'), { mode: 0o755 })
  await writeFile(join(cwd, 'npm'), command('shift; [ "$1" != -- ] || shift; set -- serve "$@"'), {
    mode: 0o755,
  })
  receiver = await startHttpServer(async (request, response) => {
    let body = ''
    for await (const piece of request.setEncoding('utf8')) body += piece
    received.push(`${request.headers['x-service-signature']} ${body}`)
    response.writeHead(204).end()
  })
})

afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await receiver?.[Symbol.asyncDispose]()
  await dataDir?.[Symbol.asyncDispose]()
})

/** What the service itself is told. */
const own = () => ({ PATH: `${cwd}:${process.env.PATH}`, DESKWIRE_DATA_DIR: dataDir.path })

const settings = () => ({
  ...own(),
  DESKWIRE_URL: `${service?.url}/v1`,
  DESKWIRE_API_KEY: key,
})

/** Starts the service by a line of a guide, as the next terminal finds it. */
async function startBy(line: string): Promise<void> {
  await service?.end('SIGTERM')
  service = await npmStart(own(), filled(line))
  key ??= /shown this once: (\S+)/.exec(service.output.stdout)?.[1] ?? ''
  expect(key).toMatch(/^dwk_/)
}

/** The text with what a reader fills in. */
function filled(text: string, these: Readonly<Record<string, string>> = {}): string {
  const all = {
    'dwk_…': key,
    'http://127.0.0.1:8080': service?.url ?? '',
    'https://desk.example/v1': `${service?.url}/v1`,
    'http://localhost:3000/hook': `http://127.0.0.1:${receiver.port}/hook`,
    'http://127.0.0.1:8081/hook': `http://127.0.0.1:${receiver.port}/hook`,
    'https://example.com/hooks': 'https://93.184.215.14/hooks',
    ' data/': ` ${dataDir.path}/`,
    ...these,
  }
  return Object.entries(all).reduce((filledIn, [place, value]) => filledIn.replaceAll(place, value), text)
}

/** Runs a block in a shell; it fails with what the shell said. */
async function shell(block: string, own: Readonly<Record<string, string>> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-eo', 'pipefail', '-c', filled(block, own)], {
    cwd,
    env: environment(settings()),
  }).catch((error) => {
    throw new Error(`${filled(block, own)}\n${error.stdout}\n${error.stderr}`)
  })
  return stdout
}

/** Runs lines that are left running until they have printed this, and ends them by Ctrl-C. */
async function leftRunning(
  line: string,
  holds: (printed: string) => boolean,
  meanwhile: () => Promise<unknown>,
) {
  await using program = startProgram('bash', ['-c', `exec ${filled(line)}`], {
    cwd,
    env: environment(settings()),
    group: true,
  })
  const { output } = program
  await program.prints(/listening|webhook/)
  await meanwhile()
  await eventually(`${line}: ${output.all}`, () => holds(output.all) || !program.running())
  await program.end('SIGINT', 'group')
  return output.all
}

const lines = (block: string) => block.trimEnd().split('\n')

const preamble = `import { createClient, SignatureError, verify } from '@deskwire/sdk'
const client = createClient()
`
/** Programs that a block with their output follows, by document. */
const printed = Object.entries(accounts).flatMap(([document, entries]) =>
  entries.flatMap(([begins, account], n) => {
    if (account !== 'printed') return []
    const earlier = entries.slice(0, n).filter(([start, of]) => of === 'printed' && start === begins)
    const blocks = blocksIn(document)
    const starts = blocks.flatMap((block, at) => (block.startsWith(begins) ? [at] : []))
    const at = starts[earlier.length] ?? blocks.length
    const [program = '', output = ''] = blocks.slice(at, at + 2)
    return [{ document, program, output }]
  }),
)

/** Runs a sample that takes its client for granted. */
const sample = (code: string, before = '', after = '') =>
  runProgram(`${preamble}${before}${filled(code)}${after}`, settings(), 'module-typescript')

/** Runs programs one after another in one process, which takes as long as one; returns what each printed. */
async function runInTurn(programs: readonly string[]): Promise<string[]> {
  const paths = programs.map((_, n) => join(cwd, `program-${n}.mts`))
  for (const [n, path] of paths.entries()) await writeFile(path, programs[n] ?? '')
  const begins = `begins ${crypto.randomUUID()}\n`
  const all = paths.map((path) => `process.stdout.write('${begins.trim()}\\n')\nawait import('${path}')\n`)
  const [before, ...outputs] = (await runProgram(all.join(''), settings())).split(begins)
  expect(before).toBe('')
  return outputs
}

test('commands of the guide on webhooks, and of an application on this machine', async () => {
  const [start = '', listen = '', trigger = ''] = lines(
    take('docs/guides/local-webhooks.md', 'npm start -- --dev\n'),
  )
  await startBy(start)
  await leftRunning(
    listen,
    // The customer of the ticket is an event too, and either may come first.
    () => received.some((one) => one.includes('"type":"ticket.created"')),
    () => shell(trigger),
  )
  expect(received.find((one) => one.includes('"type":"ticket.created"'))).toMatch(
    /^t=\d+,v1=.* \{.*"ticket\.created"/,
  )
  const [restart = '', chaos = ''] = lines(
    take('docs/guides/local-webhooks.md', 'npm start -- --dev --retry'),
  )
  await startBy(restart)
  expect(
    await leftRunning(
      chaos,
      (printed) => printed.includes('ticket.created'),
      () => shell(trigger),
    ),
  ).toMatch(/ticket\.created/)
})

test('samples and commands of the guides that need a service', async () => {
  const summarizes = take('docs/guides/summaries.md', 'DESKWIRE_SUMMARIZER=')
  await startBy(summarizes)
  await shell(take('docs/guides/clients.md', 'curl '))
  expect(JSON.parse(await readFile(join(cwd, 'openapi.json'), 'utf8')).openapi).toBe('3.1.0')

  for (const [document, begins, said] of [
    ['docs/guides/keys.md', 'const key', /^dwk_\w+\n$/],
    ['packages/sdk/README.md', 'const key', /^dwk_\w+\n$/],
    ['docs/guides/webhooks.md', 'const webhook', /^whsec_\S+\n$/],
    ['packages/sdk/README.md', 'const webhook', /^whsec_\S+\n$/],
  ] as const)
    expect([document, await sample(take(document, begins))]).toEqual([document, expect.stringMatching(said)])

  await writeFile(join(cwd, 'customers.csv'), take('docs/guides/moving-in.md', 'externalId,name'))
  const imported = await shell(take('docs/guides/moving-in.md', 'npx deskwire import'))
  expect(imported).toMatch(/2 created/)
  await writeFile(join(cwd, 'tickets.csv'), take('docs/guides/moving-in.md', 'externalId,customerExternalId'))
  expect(await shell(take('docs/guides/moving-in.md', 'npx deskwire import tickets'))).toMatch(/1 created/)
  expect(
    await sample(take('docs/guides/moving-in.md', 'const'), '', 'console.log(created, refused)'),
  ).toMatch(/^1 .*email.*\n0 1\n$/)
  await shell(take('docs/guides/moving-in.md', 'npx deskwire export'))
  const exported = await readFile(join(cwd, 'customers.ndjson'), 'utf8')
  expect(exported).toContain('"Ada Lovelace"')
  const copied = await sample(
    take('docs/guides/moving-in.md', 'const customers'),
    "import { MemoryCopy } from '@deskwire/sdk'\nconst copy = new MemoryCopy()\n",
  )
  expect(copied).toMatch(/digest/)
  expect(
    await sample(
      take('packages/sdk/README.md', 'for await (const page'),
      'const cursor = undefined, stop = new AbortController(), { signal } = stop\nconst store = async (changes: unknown[], next: string) => { console.log(changes.length > 0, typeof next); stop.abort() }\ntry {\n',
      '} catch (error) { if (!signal.aborted) throw error }\n',
    ),
  ).toBe('true string\n')
  expect(
    await sample(
      take('packages/sdk/README.md', 'for await (const ticket'),
      '',
      'console.log(newest.length === data.length, pagination.offset)',
    ),
  ).toMatch(/^(true|false) 40$/m)
  const copies = filled(take('docs/guides/sync.md', 'import { createClient, MemoryCopy'))
  expect(await runProgram(`${copies}await catchUp()\n`, settings(), 'module-typescript')).toBe('')

  const outputs = await runInTurn(printed.map(({ program }) => program))
  for (const [n, { document, output }] of printed.entries())
    expect([document, outputs[n]]).toEqual([document, output])
  const tenants = take('docs/guides/tenants.md', 'created=')
  expect(await shell(tenants)).toContain('API key, shown this once: dwk_')
  expect(
    await runProgram(take('docs/guides/tenants.md', 'import { type Client'), settings(), 'module-typescript'),
  ).toMatch(/^[0-9a-f-]{36}\n$/)
  const conversation = await sample(
    `const { id: customerId } = await client.customers.create({ name: 'Grace' })
const { id } = await client.conversations.create({ customerId, channel: 'email' })
await client.messages.create({ conversationId: id, direction: 'inbound', author: { type: 'customer' }, body: 'Lost.' })
await client.conversations.resolve(id)
process.stdout.write(id)`,
  )
  expect(await shell(`CONVERSATION=${conversation}\n${take('docs/guides/summaries.md', 'curl')}`)).toContain(
    'The parcel was lost',
  )

  await writeFile(
    join(cwd, 'event.json'),
    JSON.stringify({ id: 'x', type: 'ticket.created', data: { subject: 'Hello' } }),
  )
  const secret = { 'whsec_…': 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cw==' }
  const before = received.length
  await shell(take('docs/guides/receiving.md', 'npx deskwire signature sign'), secret)
  expect(received.length).toBe(before + 1)
  await shell(
    'cp event.json body.json; npx deskwire signature sign body.json --secret whsec_… > headers.txt',
    secret,
  )
  expect(await shell(take('docs/guides/receiving.md', 'npx deskwire signature verify'), secret)).toMatch(
    /^verified$/m,
  )
  const receives = await sample(
    take('packages/sdk/README.md', 'try {'),
    `import { testDelivery } from '@deskwire/sdk/testing'
const secret = 'whsec_x'
const { body: rawBody, headers } = await testDelivery({ type: 'ticket.created', data: { subject: 'Hello' } }, secret)
const receive = async (request: { headers: Record<string, string> }, response: object) => {
`,
    '}\nawait receive({ headers }, {})',
  )
  expect(receives).toBe('Hello\n')
})

test('commands of the guide on mirrors', async () => {
  await using database = await testDatabase({ template: null })
  const { host, port, user, database: name } = database.connection
  const url = `'postgres://${user}@/${name}?host=${encodeURIComponent(host)}&port=${port}'`
  const { organizationId: ID } = JSON.parse(
    await shell('npx deskwire organizations create --name Mirrored --json'),
  )
  expect(await shell(take('docs/guides/mirror.md', 'npx deskwire organizations create-key'), { ID })).toMatch(
    /dwk_/,
  )
  const [exported = ''] = lines(take('docs/guides/mirror.md', 'export DESKWIRE_URL'))
  const place = 'postgres://reports:secret@127.0.0.1/reports'
  expect(await shell(`${exported}\necho "$DATABASE_URL"`, { [place]: url })).toBe(`${url.slice(1, -1)}\n`)
  const [keep = '', verify = ''] = lines(take('docs/guides/mirror.md', 'npx deskwire mirror run'))
  const at = { 'postgres://desk@db.internal/warehouse': url }
  await shell(`${keep} --once`, at)
  expect(await shell(verify, at)).toMatch(/exact/)
  const selected = take('docs/guides/mirror.md', 'npx deskwire mirror run --to reports.db').trim()
  const secret = 'DESKWIRE_HASH_KEY=0123456789abcdef'
  expect(await shell(`${secret} ${selected} --once`)).toMatch(/up to date/)
})

test('commands of the guides for operators', async () => {
  const [organizations, encryption, backup] = ['organizations', 'encryption-key', 'backup'].map(
    (name) => `docs/guides/${name}.md`,
  ) as [string, string, string]
  const [create = '', list = '', ...keys] = lines(take(organizations, 'npx deskwire organizations create'))
  const NAME = "'Analytical Engines'"
  const created = await shell(create, { NAME })
  const ID = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(created)?.[0] ?? ''
  expect(await shell(list)).toContain('Analytical Engines')
  const [make = '', listKeys = '', revoke = ''] = keys
  expect(await shell(make, { ' ID': ` ${ID}`, NAME })).toContain('dwk_')
  const shown = await shell(listKeys, { ' ID': ` ${ID}` })
  const KEY_ID = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(shown)?.[0] ?? ''
  await shell(revoke, { KEY_ID, ' ID': ` ${ID}` })
  await shell(take(organizations, 'npx deskwire organizations suspend'), { ' ID': ` ${ID}` })
  await expect(
    shell(take(organizations, 'npx deskwire organizations delete'), { ' ID': ` ${ID}` }),
  ).rejects.toThrow(/--yes/)
  await shell(`npx deskwire organizations delete ${ID} --yes ${ID}`)
  expect(await shell(take('docs/guides/troubleshooting.md', 'npx deskwire doctor'))).toMatch(/encryption key/)
  expect(await shell(take('docs/guides/troubleshooting.md', 'npx deskwire conform'))).toMatch(
    /holds|passed|ok/i,
  )

  // psql is not everywhere: its arguments lead a client to the database.
  const host = (
    await shell(`psql() { printf '%s' "$2"; }\n${take('docs/guides/postgresql.md', 'psql -h')}`, {
      ' data/': ` ${dataDir.path}/`,
    })
  ).trim()
  const query = async (sql: string) => {
    const client = new pg.Client({ host, user: 'deskwire', database: 'deskwire' })
    await client.connect()
    try {
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }
  expect(await query(take('docs/guides/capacity.md', 'select'))).toMatchObject([{ rows: expect.anything() }])
  const [, forget = ''] = /-c "(.*)"/.exec(take(encryption, 'psql …')) ?? []
  expect(forget).toMatch(/^update installation/)

  expect(Buffer.from(await shell(take(encryption, 'openssl')), 'base64')).toHaveLength(32)
  await service?.end('SIGTERM')
  const keyFile = join(dataDir.path, 'encryption.key')
  const old = (await readFile(keyFile, 'utf8')).trim()
  const rotation = take(encryption, 'export DESKWIRE_ENCRYPTION_KEY_PREVIOUS').replaceAll(
    ' data/',
    ` ${dataDir.path}/`,
  )
  service = null
  service = await npmStart(own(), rotation)
  await shell(
    `export DESKWIRE_ENCRYPTION_KEY_PREVIOUS=${old}\n${take(encryption, 'npx deskwire encryption-key rotate')}`,
  )

  const file = { 'desk-2026-01-31.backup': join(cwd, 'desk.backup') }
  await shell(take(backup, 'npx deskwire backup create'), file)
  await service.end('SIGTERM')
  service = null
  await shell(take(backup, 'npx deskwire backup restore desk'), file)
  await shell(take(backup, 'npx deskwire backup mark-restored'))
})

test('the program that embeds the service', async () => {
  await using other = await temporaryDataDir({ installed: true })
  const words = ['--input-type=module', '--eval', take('packages/service/README.md', 'import')]
  await using program = startProgram(process.execPath, words, {
    cwd: root,
    env: environment({ DESKWIRE_DATA_DIR: other.path, DESKWIRE_PORT: '0' }),
  })
  await program.prints(/listening on/)
  expect(await program.end('SIGTERM')).toMatchObject({ code: 0 })
})

test('the program that starts a database of its own', async () => {
  const data = { "'./data'": `'${join(cwd, 'example')}'` }
  const program = filled(take('packages/embedded-postgres/README.md', 'import'), data)
  expect(await runProgram(program)).toMatch(/^PostgreSQL 18\./)
})

test('no block is listed as run here and is not', () => {
  const here = Object.entries(accounts).flatMap(([document, entries]) =>
    entries.flatMap(([begins, account]) => (account === 'here' ? [`${document} ${begins}`] : [])),
  )
  expect(here.filter((one) => !taken.has(one))).toEqual([])
})
