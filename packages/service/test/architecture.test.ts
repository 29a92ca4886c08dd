/** The house's rules, as tests that fail when one is broken. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { kinds } from '../src/desk/index.ts'

const kindNames = kinds.flatMap(({ name, plural }) => [name, plural])
const src = fileURLToPath(new URL('../src', import.meta.url))

/** What each room may import beside itself: nothing calls upwards. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  admission: ['kernel'],
  db: ['kernel', 'admission'],
  journal: ['kernel', 'admission', 'db'],
  auth: ['kernel', 'admission', 'db'],
  databases: ['kernel', 'db', 'auth'],
  idempotency: ['kernel', 'db', 'journal'],
  openapi: ['kernel', 'journal', 'auth'],
  http: ['kernel', 'admission', 'db', 'journal', 'auth', 'databases', 'idempotency', 'openapi'],
  pages: ['kernel', 'http'],
  'kinds/model': ['kernel', 'db', 'journal', 'openapi'],
  'kinds/docs': ['kernel', 'openapi', 'kinds/model'],
  'kinds/http': [
    'kernel',
    'admission',
    'db',
    'journal',
    'auth',
    'http',
    'openapi',
    'kinds/model',
    'kinds/docs',
  ],
  desk: ['kernel', 'db', 'kinds/model'],
  inbox: [
    'kernel',
    'db',
    'journal',
    'auth',
    'http',
    'openapi',
    'kinds/model',
    'kinds/docs',
    'kinds/http',
    'desk',
  ],
  delivery: ['kernel'],
  'delivery/send': ['kernel', 'delivery'],
  'delivery/queue': ['kernel', 'admission', 'db', 'journal', 'auth', 'delivery', 'delivery/send'],
  'delivery/endpoint': [
    'kernel',
    'admission',
    'db',
    'journal',
    'auth',
    'idempotency',
    'http',
    'openapi',
    'kinds/model',
    'delivery',
    'delivery/send',
    'delivery/queue',
  ],
  'delivery/log': [
    'kernel',
    'db',
    'journal',
    'auth',
    'http',
    'openapi',
    'kinds/model',
    'delivery',
    'delivery/queue',
    'delivery/endpoint',
  ],
  keys: ['kernel', 'db', 'journal', 'auth', 'databases', 'idempotency', 'http', 'openapi', 'delivery/queue'],
  organization: ['kernel', 'db', 'auth', 'databases', 'http', 'openapi', 'delivery'],
  metrics: ['kernel', 'admission', 'http', 'openapi', 'delivery', 'delivery/queue'],
  telemetry: ['kernel'],
  summarizer: ['kernel', 'db', 'journal', 'kinds/model', 'desk'],
  mcp: ['kernel', 'auth', 'http', 'openapi', 'kinds/model', 'delivery/endpoint'],
  retention: ['kernel', 'db', 'journal', 'idempotency'],
  schema: [
    'kernel',
    'db',
    'journal',
    'kinds/model',
    'desk',
    'delivery/queue',
    'delivery/endpoint',
    'delivery/log',
    'keys',
    'idempotency',
    'inbox',
    'summarizer',
  ],
  backup: ['kernel', 'db', 'journal', 'desk', 'delivery/queue', 'delivery/endpoint', 'retention', 'schema'],
  moves: [
    'kernel',
    'db',
    'journal',
    'auth',
    'databases',
    'desk',
    'delivery/endpoint',
    'organization',
    'retention',
    'backup',
  ],
  top: [
    'kernel',
    'admission',
    'db',
    'journal',
    'auth',
    'databases',
    'idempotency',
    'http',
    'kinds/model',
    'kinds/docs',
    'kinds/http',
    'desk',
    'inbox',
    'openapi',
    'pages',
    'delivery',
    'delivery/send',
    'delivery/queue',
    'delivery/endpoint',
    'delivery/log',
    'keys',
    'organization',
    'metrics',
    'telemetry',
    'summarizer',
    'mcp',
    'retention',
    'schema',
    'backup',
    'moves',
  ],
}

interface Source {
  readonly path: string
  /** The first folder; `schema`, which gathers what the rooms have in the database; or `top` for what composes them all. */
  readonly room: string
  readonly text: string
  readonly imports: readonly string[]
}

const sources: readonly Source[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(ts|sql)$/.test(path))
  .map((path) => {
    const text = readFileSync(join(src, path), 'utf8')
    const imports = [...text.matchAll(/from '(\.[^']+)'/g)].map((match) =>
      relative(src, join(src, dirname(path), match[1] as string)),
    )
    return { path, room: roomOf(path), text, imports }
  })

/** `kinds/model` is a room of its own beside `kinds/http`; most folders are one room. */
function roomOf(path: string): string {
  const [first, second, third] = path.split('/')
  if (first === 'schema.ts') return 'schema'
  const inner = `${first}/${second}`
  if (third !== undefined && inner in mayImport) return inner
  return second === undefined || first === 'roles' || first === 'doctor' ? 'top' : (first as string)
}

test('there are sources to look at', () => {
  expect(sources.length).toBeGreaterThan(40)
})

test.each(sources.map(({ path }) => path))('%s imports only from rooms below', (path) => {
  const source = sources.find((other) => other.path === path) as Source
  const allowed = mayImport[source.room]
  expect(allowed, `${source.room} is a room without a place: add it to mayImport`).toBeDefined()
  const upward = source.imports.filter(
    (imported) => roomOf(imported) !== source.room && !allowed?.includes(roomOf(imported)),
  )
  expect(upward).toEqual([])
})

test('ARCHITECTURE.md lists the rooms, each below those that it imports', () => {
  const document = readFileSync(new URL('../../../ARCHITECTURE.md', import.meta.url), 'utf8')
  const [, table = ''] = document.split('| room | holds |')
  const cells = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| (`.*?) \|/gm)].map(
    ([, cell]) => cell as string,
  )
  const listed = cells.flatMap((cell) =>
    cell.includes('`roles`') ? ['top'] : [...cell.matchAll(/`(.+?)`/g)].map(([, room]) => room as string),
  )
  expect(listed).toEqual(Object.keys(mayImport))
  const upward = Object.entries(mayImport).flatMap(([room, imported]) =>
    imported.filter((other) => listed.indexOf(other) >= listed.indexOf(room)),
  )
  expect(upward).toEqual([])
})

test('the longest way from a room down to the lowest has at most 14 rooms', () => {
  const depths = new Map<string, number>()
  for (const [room, imported] of Object.entries(mayImport))
    depths.set(room, 1 + Math.max(0, ...imported.map((below) => depths.get(below) ?? Number.NaN)))
  expect(Math.max(...depths.values())).toBeLessThanOrEqual(14)
})

test('no file imports another that imports it, through however many and for its types alone', () => {
  const importsOf = new Map(sources.map(({ path, imports }) => [path, imports]))
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (path: string, way: readonly string[]) => {
    const begins = way.indexOf(path)
    if (begins >= 0) circles.push([...way.slice(begins), path].join(' → '))
    if (begins >= 0 || done.has(path)) return
    for (const imported of importsOf.get(path) ?? []) visit(imported, [...way, path])
    done.add(path)
  }
  for (const { path } of sources) visit(path, [])
  expect(circles).toEqual([])
})

test('a folder of the desk imports the machinery of kinds, and no other but what it moves', () => {
  const across = sources
    .filter(({ room, path }) => room === 'desk' && path !== 'desk/index.ts')
    .flatMap(({ path, imports }) =>
      imports
        .filter((imported) => roomOf(imported) === 'desk' && dirname(imported) !== dirname(path))
        .map((imported) => `${dirname(path)} → ${dirname(imported)}`),
    )
  // An arriving message moves its conversation, and the tickets of it. A note has an author and a customer as messages have.
  expect([...new Set(across)].sort()).toEqual([
    'desk/message → desk/conversation',
    'desk/message → desk/ticket',
    'desk/note → desk/conversation',
    'desk/note → desk/message',
  ])
})

test('who comes in, what is sent and what stores it import nothing of kinds', () => {
  const apart = [
    'admission',
    'db',
    'journal',
    'auth',
    'keys',
    'databases',
    'http',
    'delivery',
    'organization',
  ]
  const reaching = sources.filter(
    ({ room, imports }) => apart.includes(room) && imports.some((path) => /^(kinds|desk)\//.test(path)),
  )
  expect(reaching.map(({ path }) => path)).toEqual([])
})

test('the machinery knows no kind by name', () => {
  const machinery = sources.filter(({ room }) =>
    [
      'db',
      'journal',
      'auth',
      'idempotency',
      'http',
      'kinds/model',
      'kinds/docs',
      'kinds/http',
      'openapi',
      'pages',
    ].includes(room),
  )
  const naming = machinery.filter(({ text }) =>
    new RegExp(`['"\`.](${kindNames.join('|')})['"\`.]`).test(withoutComments(text)),
  )
  expect(naming.map(({ path }) => path)).toEqual([])
})

describe('SQL', () => {
  test('names its columns', () => {
    expect(violations(/select\s+\*|select \w+\.\*(?!,\s*v_number)/i)).toEqual([])
  })

  test('is not written in http, which knows of the database how its failures are answered', () => {
    const statement = /^\s*(with|select|insert into|update|delete from)\s.*\s(from|into|set)\s/s
    const inHttp = sources.filter(({ room }) => room === 'http')
    const stating = inHttp.filter(({ text }) => {
      const code = withoutComments(text)
      return literals(code).some((literal) => statement.test(literal)) || /\.query\(|from 'pg'/.test(code)
    })
    expect(stating.map(({ path }) => path)).toEqual([])
    const databaseFiles = inHttp.flatMap(({ imports }) => imports.filter((path) => path.startsWith('db/')))
    expect([...new Set(databaseFiles)].sort()).toEqual(['db/failure.ts', 'db/not-served.ts'])
  })

  test('only the journal writes the stream, its events and its counters', () => {
    const tables = [
      'events',
      'commits',
      '__table__',
      '\\$\\{table\\.name\\}',
      ...kinds.map(({ table }) => table.name),
    ]
    const writes = new RegExp(`(insert into|update|delete from) (${tables.join('|')})\\b`)
    expect(violations(writes).filter((path) => !path.startsWith('db/migrations/'))).toEqual([
      'delivery/endpoint/ping-webhook.sql',
      'journal/commit.sql',
      // Of stored responses, which are of no stream.
      'journal/count-responses.sql',
      'journal/kind.sql',
      'journal/record-event.sql',
      'journal/unlink.sql',
      'retention/erasure.ts',
      'retention/log-weeks.ts',
      // Those before the latest.
      'retention/maintenance.ts',
    ])
    // A ping reports no change, so it is in no stream.
    const pings = sources.find(({ path }) => path === 'delivery/endpoint/ping-webhook.sql')?.text ?? ''
    const inserted = pings.match(/insert into events[^;]*/g)
    expect(inserted?.every((sql) => sql.includes("'webhook'"))).toBe(true)
    expect(pings).not.toMatch(/(insert into|update|delete from) commits|update events|delete from events/)
    // Of events that are past keeping, whole rows go, and nothing of them changes.
    const weeks = sources.find(({ path }) => path === 'retention/log-weeks.ts')?.text ?? ''
    expect(weeks).not.toMatch(/(insert into|update) events|(insert into|update|delete from) commits/)
    // Maintenance erases payloads; it writes nothing else of them.
    const maintenance = sources.find(({ path }) => path === 'retention/erasure.ts')?.text ?? ''
    expect(
      maintenance
        .match(/(insert into|update|delete from) (events|commits)[^`]*/g)
        ?.every((sql) => sql.startsWith('update events set body = null')),
    ).toBe(true)
  })

  test("only SQL files of its own rooms, and one module, name the endpoints' table", () => {
    const naming = /\bwebhooks w\b|(from|join|into|update) (only )?webhooks\b/
    const own = /^(webhooks|delivery)\/.*\.sql$|^db\/migrations\//
    expect(violations(naming).filter((path) => !own.test(path))).toEqual(['delivery/endpoints-table.ts'])
  })

  test('beside the room of several databases, few statements say which organizations are served here', () => {
    const others = violations(/\baway\b/).filter((path) => !/^(databases|moves|db\/migrations)\//.test(path))
    expect(others).toEqual([
      'db/not-served.ts',
      // Whether the organization of a claimed queue is suspended or served elsewhere.
      'delivery/queue/claim-endpoint.sql',
      'delivery/queue/hold-queue.sql',
      // The clock row, which each write locks.
      'journal/commit.sql',
      'journal/lock-clock.sql',
    ])
  })

  test('only a restore, into an empty database, and a move, of what the journal wrote elsewhere, put rows in past the journal', () => {
    expect(violations(/truncate |copy \S+ \(.*from stdin/)).toEqual(['backup/restore.ts', 'moves/copy.ts'])
  })

  test('only the journal moves the clock of an organization; only its birth starts it', () => {
    // A restore moves all of them, past what was lost.
    expect(violations(/update organization_clocks/)).toEqual([
      'journal/epoch.ts',
      'journal/record-event.sql',
      // That it is served elsewhere, and no stamp.
      'moves/cutover.ts',
      // Which events are gone, and no stamp.
      'retention/log-weeks.ts',
    ])
    expect(violations(/insert into organization_clocks/)).toEqual(['organization/create.ts'])
  })

  test('names the organization, but for the token directory, the search for due work and the installation', () => {
    const statements = sources
      .filter(({ path }) => !path.startsWith('db/') && !path.endsWith('.sql'))
      .flatMap(({ path, text }) =>
        literals(withoutComments(text))
          .filter((sql) => /^\s*(with|select|insert into|update|delete from)\s/.test(sql))
          .map((sql) => ({ path, sql })),
      )
    const anonymous = statements.filter(
      ({ sql }) => / from |insert into|update /.test(sql) && !/organization_id/.test(sql),
    )
    expect(anonymous.map(({ path, sql }) => `${path}: ${sql.trim().slice(0, 50)}`).sort()).toEqual(
      [
        // Whether there is any key, in any database.
        'organization/create.ts: select 1 from (select 1 from api_keys union all se',
        // By the hashes of tokens, as the directory is asked.
        'databases/directory.ts: delete from directory_tokens t where t.token_hash ',
        'databases/settle.ts: delete from directory_tokens t where t.token_hash ',
        'databases/settle.ts: select a.token_hash from unnest($1::bytea[]) as a(',
        // The catalogue, and the list of migrations.
        'backup/tables.ts: select c.relname as name from pg_class c\n       wh',
        'backup/tables.ts: select c.relname::text as name, array_agg(a.attnam',
        'backup/tables.ts: select id from schema_migrations order by id',
        // Of all organizations, by a restore, before anything else uses the database.
        'delivery/queue/leases.ts: update endpoint_queues set lease_id = null, lease_',
        // The server, the catalogue, and the list of migrations; an endpoint that the operator names.
        // Whether anything of any organization is stored for too long.
        "doctor/database.ts: select 'payloads of removed objects' as what where",
        // Whose times are ahead of the database's clock.
        'doctor/database.ts: select count(*)::int as organizations, max(extract',
        "doctor/database.ts: select current_setting('max_connections')::int - c",
        'doctor/database.ts: select current_user::text as role, current_setting',
        'doctor/database.ts: select m.id from schema_migrations m order by m.id',
        // How full a database is.
        'installation.ts: select (select coalesce(sum(c.live_count), 0)::flo',
        // No table of their own: what looks into one stands in a literal that names the organization.
        "moves/compare.ts: select count(*) || ' ' || coalesce(sum(h.hash), 0)",
        'journal/epoch.ts: select i.epoch from installation i union select c.',
        'journal/epoch.ts: update installation set epoch = $1 where singleton',
        // Of no table.
        "journal/notifier.ts: select set_config('synchronous_commit', 'off', tru",
        // Its arms name it, each for itself.
        'journal/feed.ts: select s.updated_at, s.id, s.body from (${arms.map',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the source as it is written
        'keys/console-links.ts: select 1 from ${exchangeable}',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the source as it is written
        'kinds/http/browse.ts: select ${total} as total, (select count(*)::int fr',
        // The catalogue.
        'moves/capture.ts: select c.relname::text as name from pg_trigger t j',
        'roles/admin-responses.ts: select 1 from installation i where i.singleton and',
        'delivery/endpoints-table.ts: select w.id, w.url from webhooks w where w.id = $1',
        'delivery/endpoint/vault.ts: select i.key_check, i.previous_key_check from inst',
        'delivery/endpoint/vault.ts: update installation set key_check = $1 where singl',
        'delivery/endpoint/vault.ts: update installation set key_check = $1, previous_k',
        'delivery/endpoint/key-rotation.ts: update installation set key_check = $1, previous_k',
        'delivery/endpoint/key-rotation.ts: update installation set previous_key_check = null ',
        // By primary keys, which begin with it.
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the source as it is written
        "delivery/endpoint/key-rotation.ts: with mine as (\n           select ${of('t')}, c.bec",
      ].sort(),
    )
  })
})

test('time comes from a clock', () => {
  const reading = violations(/Date\.now\(\)|new Date\(\)|performance\.now\(\)/)
  expect(reading).toEqual(['kernel/timestamps.ts'])
})

test('one place opens connections to receivers, to addresses that were checked', () => {
  const sending =
    /\b(fetch|connect|createConnection)\(|connect as|new (Client|Pool|Agent|Socket)\(|from 'node:https?'/
  const delivery = violations(sending).filter((path) => path.startsWith('delivery/'))
  // Straight, and through the operator's proxy.
  expect(delivery).toEqual(['delivery/send/dial.ts', 'delivery/send/tunnel.ts'])
})

test('one place speaks to the endpoint that writes summaries', () => {
  const sending = /\b(fetch|request|connect)\(|from '(undici|node:(https?|net|tls))'/
  const summarizing = violations(sending).filter((path) => path.startsWith('summar'))
  expect(summarizing).toEqual(['summarizer/chat-endpoint.ts'])
})

test('one place reads what a request says of where it went', () => {
  const reading =
    /\brequest\.(host|hostname|port|protocol)\b|['"]x-forwarded-|\bhost\b.* = (this|request)\.headers/
  expect(violations(reading)).toEqual(['http/origin.ts'])
})

test('a start loads nothing of what runs on the database before the database is begun', () => {
  const reached = new Set(['serve.ts'])
  for (const path of reached) {
    const text = sources.find((source) => source.path === path)?.text ?? ''
    for (const [, from] of text.matchAll(/^(?:import|export) (?!type )[^']*?from '(\.[^']+)'/gm))
      reached.add(join(dirname(path), from as string))
  }
  expect(reached).toContain('db/open.ts')
  const late = [
    'http',
    'openapi',
    'kinds/model',
    'kinds/http',
    'desk',
    'organization',
    'schema',
    'backup',
    'summarizer',
  ]
  expect([...reached].filter((path) => late.includes(roomOf(path)))).toEqual([])
})

test('nothing prints but the log and the start', () => {
  expect(violations(/\bconsole\.\w|process\.stdout/)).toEqual(['main.ts', 'run.ts'])
})

test('functions that are made again and again are named before they are assigned to a property (decision 22)', () => {
  const assigned = /\.#?\w+ (\?\?)?= (async )?((\([^()]*\)(: [^=]+)?|\w+) =>|function\b)/
  // Once in a process each.
  const once = ['http/unknown-address.ts']
  expect(violations(assigned)).toEqual(once)
})

test('one file adds the steps that a request passes', () => {
  const adding = /addHook\(\s*'(?:onRequest|pre(?:Parsing|Validation|Handler)|on(?:Send|Error|Response))'/
  expect(violations(adding)).toEqual(['http/pipeline.ts'])
})

test('the launcher of the embedded PostgreSQL knows nothing of the service', () => {
  const launcher = fileURLToPath(new URL('../../embedded-postgres/src', import.meta.url))
  const imported = readdirSync(launcher).flatMap((name) =>
    [...readFileSync(join(launcher, name), 'utf8').matchAll(/(?:from |import\()'([^']+)'/g)].map(
      ([, from]) => from,
    ),
  )
  expect(imported.length).toBeGreaterThan(50)
  expect([...new Set(imported)].filter((from) => !/^(node:|\.\/[\w-]+\.ts$)/.test(from ?? ''))).toEqual([
    'pg',
  ])
})

test('the tools for agents know the public API, and nothing of the service', () => {
  const tools = fileURLToPath(new URL('../../mcp/src', import.meta.url))
  const imported = readdirSync(tools).flatMap((name) =>
    [...readFileSync(join(tools, name), 'utf8').matchAll(/(?:from |import\()'([^']+)'/g)].map(
      ([, from]) => from,
    ),
  )
  expect(imported.length).toBeGreaterThan(30)
  expect(
    [...new Set(imported)].filter((from) => !/^(node:|\.\/[\w-]+\.ts$)/.test(from ?? '')).sort(),
  ).toEqual([
    '@deskwire/sdk',
    '@deskwire/sdk/clipped',
    '@deskwire/sdk/json',
    '@deskwire/sdk/text-of',
    '@modelcontextprotocol/server',
    'jose',
    'zod',
  ])
})

test('nothing of the tools for agents is loaded with the service', () => {
  const loading = sources.filter(({ text }) => /^import (?!type )[^']*?from '@deskwire\/mcp'/m.test(text))
  expect(loading.map(({ path }) => path)).toEqual([])
})

test('no comment of a package has a line of more than 120 characters', () => {
  const packages = fileURLToPath(new URL('../../', import.meta.url))
  const made = ['cli/src/resources/operations.ts', 'console/src/generated/lists.ts', 'sdk/src/generated.ts']
  const wide = readdirSync(packages, { recursive: true, encoding: 'utf8' })
    .filter((path) => /^[^/]+\/src\/.*\.tsx?$/.test(path) && !made.includes(path))
    .filter((path) => /^(?=.{121}) *(\/?\*|\/\/)/m.test(readFileSync(join(packages, path), 'utf8')))
  expect(wide).toEqual([])
})

test('one place reads JSON, in every package', () => {
  const packages = fileURLToPath(new URL('../../', import.meta.url))
  const reading = readdirSync(packages, { recursive: true, encoding: 'utf8' })
    .filter((path) => /^[^/]+\/src\/.*\.tsx?$/.test(path))
    // The launcher stands alone, and reads files that it or its packages wrote, whose names have no escapes.
    .filter((path) => !path.startsWith('embedded-postgres/src/'))
    .filter((path) =>
      /JSON\.parse\b|\.json\(\)/.test(withoutComments(readFileSync(join(packages, path), 'utf8'))),
    )
  // A sample shows a program that calls the API without the SDK.
  expect(reading.sort()).toEqual(['reference/src/samples.ts', 'sdk/src/json.ts'])
})

describe('the testbed', () => {
  const root = fileURLToPath(new URL('../../../', import.meta.url))
  const files = ['packages', 'bench', 'checks', 'tools'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => join(folder, path))
      .filter((path) => /\.tsx?$/.test(path) && !/node_modules|\/dist\/|^bench\/peers\//.test(path)),
  )
  const having = (pattern: RegExp, among: RegExp) =>
    files
      .filter((path) => among.test(path))
      .filter((path) => pattern.test(withoutComments(readFileSync(join(root, path), 'utf8'))))
      .sort()
  /** Tests and what runs beside them, the testbed and this file apart. */
  const others = /^(bench|checks|tools|packages\/(?!testbed\/)[^/]+\/test)\/(?!.*architecture\.test\.ts$)/

  test('is imported by no source of a package', () => {
    expect(having(/testbed/, /^packages\/[^/]+\/src\//)).toEqual([])
  })

  test('alone starts HTTP and TLS servers', () => {
    expect(having(/\bcreate(Secure)?Server\b[^}]*\} from 'node:(https?|http2|tls)'/, others)).toEqual([
      // Reads no more of HTTP than it must: it shares the cores of what is measured.
      'bench/harness/receiver-process.ts',
      // A proxy.
      'checks/conformance.ts',
    ])
  })

  test('alone starts services and the command line', () => {
    expect(having(/cli\/(src\/main\.ts|deskwire\.js)/, others)).toEqual([
      // On a machine of its own, with its Node.
      'checks/machines.ts',
      // Of another release.
      'checks/upgrade/release.ts',
      // Draws what the demo prints, as it prints it.
      'tools/record-demo.ts',
    ])
    expect(having(/\b(createApp|startApi)\b[^}]*\} from '[^']*\/src\//, others)).toEqual([
      // With a clock that steps.
      'checks/torture/service-process.ts',
      // Over databases between which a model moves organizations.
      'packages/service/test/model/moves-model.pg.test.ts',
    ])
  })

  test('alone starts browsers', () => {
    expect(having(/\bchromium\b[^}]*\} from 'playwright-core'/, others)).toEqual([])
  })
})

/** String and template literals, templates with other templates inside included. */
function literals(text: string): string[] {
  const template = /`((?:\\.|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}|[^`\\])*)`|'([^'\n]*)'/g
  return [...text.matchAll(template)].map((match) => match[1] ?? match[2] ?? '')
}

function violations(pattern: RegExp): string[] {
  return sources
    .filter(({ path, text }) =>
      pattern.test(path.endsWith('.sql') ? withoutSqlComments(text) : withoutComments(text)),
    )
    .map(({ path }) => path)
    .sort()
}

function withoutSqlComments(text: string): string {
  return text.replace(/--.*$/gm, '')
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm, '')
}
