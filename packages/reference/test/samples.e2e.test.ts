/** Every sample compiles, and those of each resource work against a service. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiModules } from '../../service/src/api-document.ts'
import { kinds } from '../../service/src/desk/index.ts'
import { exampleId } from '../../service/src/openapi/api-module.ts'
import { root } from '../../testbed/repository.ts'
import { type Api, type TestService, testService } from '../../testbed/service.ts'
import { type Reference, readReference } from '../src/reference.ts'
import { type Language, samplesOf } from '../src/samples.ts'

const run = promisify(execFile)

let service: TestService
let reference: Reference
let directory: string

beforeAll(async () => {
  service = await testService()
  reference = await readReference(apiModules(kinds))
  directory = mkdtempSync(join(tmpdir(), 'deskwire-samples-'))
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
})

afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  if (directory !== undefined) rmSync(directory, { recursive: true })
})

function sampleOf(id: string, language: Language): string {
  const operation = reference.operations.get(id)
  if (operation === undefined) throw new Error(`no operation is called ${id}`)
  return samplesOf(operation, reference).find((sample) => sample.language === language)?.code ?? ''
}

/** Writes a sample of each of these operations to a folder of its own, and returns the paths. */
function written(
  folder: string,
  samples: readonly (readonly [id: string, code: string])[],
  extension: string,
): string[] {
  mkdirSync(join(directory, folder), { recursive: true })
  return samples.map(([id, code], n) => {
    const path = join(directory, folder, `${String(n).padStart(3, '0')}-${id}.${extension}`)
    writeFileSync(path, code)
    return path
  })
}

const every = (language: Language) =>
  [...reference.operations.keys()].map((id) => [id, sampleOf(id, language)] as const)

test('every sample in TypeScript compiles, with the types of the SDK', async () => {
  // Without an import it would be a script with global names.
  const modules = every('typescript').map(([id, code]) => [id, `${code}export {}\n`] as const)
  const files = written('types', modules, 'ts')
  expect(files.length).toBeGreaterThan(90)
  const config = join(directory, 'tsconfig.json')
  const compilerOptions = {
    paths: { '@deskwire/sdk': [join(root, 'packages/sdk/src/index.ts')] },
    typeRoots: [join(root, 'node_modules/@types')],
  }
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, files, include: [] }),
  )
  const compile = () =>
    run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config]).catch(
      (error) => error,
    )
  expect((await compile()).stdout).toBe('')
  writeFileSync(
    files[0] as string,
    "import { createClient } from '@deskwire/sdk'\ncreateClient({}).nothing.list()\n",
  )
  expect((await compile()).stdout).toContain('nothing')
})

test('every sample in Python and for a shell compiles', async () => {
  const python = written('python', every('python'), 'py')
  await run('python3', [
    '-c',
    'import ast, sys\nfor path in sys.argv[1:]: ast.parse(open(path).read(), path)',
    ...python,
  ])
  const shell = every('curl').map(([, code]) => `f() {\n${code}\n}\n`)
  const [all] = written('shell', [['all', shell.join('')]], 'sh')
  await run('bash', ['-n', all as string])
})

test('a page shows its samples as they are', async () => {
  const { text } = await service.withToken(null).get('/docs/api/createBooking')
  const shown = [...text.matchAll(/data-language="(\w+)"><pre[^>]*><code>([\s\S]*?)<\/code>/g)]
  expect(shown.map(([, language]) => language)).toEqual(['curl', 'typescript', 'python'])
  for (const [, language, code = ''] of shown) {
    const plain = code
      .replace(/<[^>]*>/g, '')
      .replace(/&#(\d+);/g, (_, number) => String.fromCharCode(Number(number)))
    expect(plain).toBe(sampleOf('createBooking', language as Language).trimEnd())
  }
})

/** Calls of each resource in a possible order, with the `id` of their path. */
const calls: readonly (readonly [operation: string, id?: keyof Made])[] = [
  ['createCustomer'],
  ['listCustomers'],
  ['getCustomer', 'customer'],
  ['batchCustomers'],
  ['exportCustomers'],
  ['digestCustomers'],
  ['createConversation'],
  ['getConversation', 'conversation'],
  ['updateConversation', 'conversation'],
  ['createMessage'],
  ['listMessages'],
  ['resolveConversation', 'conversation'],
  ['summarizeConversation', 'conversation'],
  ['createTicket'],
  ['getTicket', 'ticket'],
  ['updateTicket', 'ticket'],
  ['deleteTicket', 'ticket'],
  ['createBooking'],
  ['rescheduleBooking', 'booking'],
  ['confirmBooking', 'booking'],
  ['cancelBooking', 'booking'],
  ['createTeammate'],
  ['listTeammates'],
  ['listChanges'],
  ['createWebhook'],
  ['updateWebhook', 'webhook'],
  ['rotateWebhookSecret', 'webhook'],
  ['deletePreviousWebhookSecret', 'webhook'],
  ['pingWebhook', 'webhook'],
  ['listDeliveries', 'webhook'],
  ['recoverWebhook', 'webhook'],
  ['listRecoveries', 'webhook'],
  ['deleteWebhook', 'webhook'],
  ['createApiKey'],
  ['updateApiKey', 'key'],
  ['rotateApiKey', 'key'],
  ['deleteApiKey', 'key'],
  ['getOrganization'],
  ['updateOrganization'],
  ['healthz'],
]

interface Made {
  readonly customer: string
  readonly conversation: string
  readonly ticket: string
  readonly booking: string
  readonly webhook: string
  readonly key: string
}

/** Public, and needs no name server. No worker runs, so nothing is sent there. */
const address = 'https://93.184.215.14/hooks'

/** The objects of the samples, in an organization of its own. */
async function makeObjects(api: Api): Promise<Made> {
  const made = async (path: string, body: object) => (await api.post(path, body)).json.id as string
  const customer = await made('/v1/customers', { name: 'Ada' })
  const customerId = customer
  return {
    customer,
    conversation: await made('/v1/conversations', { customerId, channel: 'email' }),
    ticket: await made('/v1/tickets', { customerId, subject: 'The engine halts' }),
    booking: await made('/v1/bookings', {
      customerId,
      title: 'Fitting',
      startAt: '2026-02-02T09:00:00Z',
      endAt: '2026-02-02T09:30:00Z',
      timezone: 'Europe/Berlin',
    }),
    webhook: await made('/v1/webhooks', { url: address, events: ['customer.created'] }),
    key: await made('/v1/api-keys', { name: 'Search index', scopes: ['customers:read'] }),
  }
}

/** Replaces ids, addresses and times of the examples, as a reader does. */
function withIds(code: string, made: Made, own: keyof Made | undefined): string {
  const ids = {
    [exampleId(1)]: made.customer,
    [exampleId(2)]: made.conversation,
    'https://example.com/hooks': address,
    // Within the log.
    '2026-01-30T09:30:00.000Z': new Date(Date.now() - 60_000).toISOString(),
  }
  const all = own === undefined ? ids : { ...ids, [exampleId(3)]: made[own] }
  return Object.entries(all).reduce((text, [example, id]) => text.replaceAll(example, id), code)
}

/** Runs all files in one process, in their order; a failure names its file. */
const runners: Readonly<
  Record<Language, (files: readonly string[]) => readonly [command: string, ...args: string[]]>
> = {
  typescript: (files) => [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
    '--eval',
    `import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
const from = pathToFileURL(${JSON.stringify(root)} + '/')
registerHooks({
  resolve: (name, context, next) => next(name, name.startsWith('@deskwire/') ? { ...context, parentURL: from.href } : context),
})
for (const file of ${JSON.stringify(files)}) {
  console.log(file)
  await import(pathToFileURL(file))
}`,
  ],
  python: (files) => [
    'python3',
    '-c',
    'import runpy, sys\nfor path in sys.argv[1:]:\n    print(path, flush=True)\n    runpy.run_path(path)',
    ...files,
  ],
  // curl exits with success after a refusal by default.
  curl: (files) => [
    'bash',
    '-ec',
    'curl() { command curl -sS --fail-with-body "$@"; }\nfor path in "$@"; do echo "$path"; . "$path"; done',
    'bash',
    ...files,
  ],
}

test.each(['curl', 'typescript', 'python'] as const)(
  'the samples in %s do what they say',
  async (language) => {
    const api = await service.newOrganization()
    const made = await makeObjects(api)
    const files = written(
      `run-${language}`,
      calls.map(([id, own]) => [id, withIds(sampleOf(id, language), made, own)] as const),
      language === 'typescript' ? 'ts' : language === 'python' ? 'py' : 'sh',
    )
    const [command, ...args] = runners[language](files)
    const env = { ...process.env, DESKWIRE_URL: `${service.url}/v1`, DESKWIRE_API_KEY: api.token }
    const { stdout } = await run(command, args, { env, maxBuffer: 16 * 1024 * 1024 })
    for (const file of files) expect(stdout).toContain(file)
    expect(stdout).toContain('Analytical Engines, Ltd.')

    const booked = (await api.get(`/v1/bookings/${made.booking}`)).json
    expect(booked).toMatchObject({ status: 'cancelled', rescheduleCount: 1 })
    const { status, summary } = (await api.get(`/v1/conversations/${made.conversation}`)).json
    expect({ status, summary }).toEqual({ status: 'resolved', summary: 'The parcel was found.' })
    expect((await api.get(`/v1/tickets/${made.ticket}`)).status).toBe(404)
    expect((await api.get(`/v1/webhooks/${made.webhook}`)).status).toBe(404)
    expect((await api.get('/v1/customers')).json.pagination.total).toBe(2)
  },
)
