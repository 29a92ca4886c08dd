/**
 * `npm run check -- operator [--from REVISION]`: docs/guides/installing.md, each block as it is written, on a fresh
 * Debian with systemd as its first process; after each step, whether what the guide says has come true. It begins with an earlier
 * release, packed from the history, and ends with this one. Needs root, and what `checks/deploy/image.ts` does; BUILD_FLAGS
 * there are RUN_FLAGS here.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Agent, fetch as fetchBy } from 'undici'
import { createClient } from '../packages/sdk/src/index.ts'
import type { Fetch } from '../packages/sdk/src/options.ts'
import { type Hooks, startHooks } from '../packages/testbed/arrivals.ts'
import { provideBaseImages } from './deploy/base-images.ts'
import { ownAddress } from './deploy/containers.ts'
import { type Machine, makeMachineImage, startMachine } from './deploy/machine.ts'
import { tryOut } from './deploy/trial.ts'
import { stepsOf } from './operator/guide.ts'
import { startLoad } from './operator/load.ts'
import { openShell } from './operator/shell.ts'
import { report } from './report.ts'
import { firstRelease, tarballsOf } from './upgrade/release.ts'

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: firstRelease() },
  },
})
const root = fileURLToPath(new URL('..', import.meta.url))
const image = 'localhost/deskwire-operator'
const home = '/root/deskwire'
const site = 'desk.example'
const ports = [8080, 8081] as const

const steps = stepsOf(new URL('../docs/guides/installing.md', import.meta.url))
const revision = execFileSync('git', ['rev-parse', '--short=10', values.from], {
  cwd: root,
  encoding: 'utf8',
}).trim()

const scratch = mkdtempSync(join(tmpdir(), 'deskwire-operator-'))
const address = ownAddress()
const receiver = await startHooks(address)
const [earlier, next] = [tarballsOf(revision), join(scratch, 'next')]
execFileSync(process.execPath, [join(root, 'tools/pack.ts'), next], {
  stdio: ['ignore', 'ignore', 'inherit'],
})
provideBaseImages()
// The guide leaves installing Node to its reader.
makeMachineImage(image, 'docker.io/library/node:26-bookworm-slim', [
  'for name in node npm; do ln -s /usr/local/bin/$name /usr/bin/$name; done',
])
const machine = await startMachine('deskwire-operator', image, [443])
machine.inside('mkdir', '-p', home)
const shell = openShell('deskwire-operator', home)
try {
  await walk()
} finally {
  shell.end()
  machine.remove()
  await receiver[Symbol.asyncDispose]()
  rmSync(scratch, { recursive: true })
}

async function walk(): Promise<void> {
  machine.copy(join(root, 'deploy'), `${home}/deploy`)
  machine.copy(earlier, `${home}/release`)
  machine.copy(next, `${home}/next`)
  machine.copy(receiver.ca, '/etc/deskwire-ca.pem')
  const looks = createLooks(machine, receiver)
  for (const [n, { title, commands }] of steps.entries()) {
    if (steps[n - 1]?.title !== title) await looks.before[title]?.()
    const since = performance.now()
    const printed = await shell.run(commands)
    // In addition to an operator's settings: the receiver has no public address.
    if (commands.includes('> /etc/deskwire.env'))
      await shell.run(
        `printf '%s\\n' DESKWIRE_TRUSTED_TARGETS=${address}/32 DESKWIRE_TARGET_CA=/etc/deskwire-ca.pem >> /etc/deskwire.env`,
      )
    const first = commands.trim().split('\n')[0] ?? ''
    report(
      `${title}: \`${first.length > 70 ? `${first.slice(0, 70)}…` : first}\`, ${((performance.now() - since) / 1000).toFixed(1)} s`,
      true,
    )
    if (steps[n + 1]?.title !== title) await looks.after[title]?.(printed)
  }
  const named = new Set(steps.map(({ title }) => title))
  const unknown = [...Object.keys(looks.before), ...Object.keys(looks.after)].filter(
    (title) => !named.has(title),
  )
  if (unknown.length > 0) throw new Error(`the guide has no section ${unknown.join(', ')} to look after`)
}

type Look = (printed: string) => Promise<void>

/** Checks before and after sections of the guide, by their titles. */
function createLooks(
  { inside, until }: Machine,
  receiver: Hooks,
): {
  readonly before: Readonly<Record<string, () => Promise<void>>>
  readonly after: Readonly<Record<string, Look>>
} {
  const shown = (port: number, property: string) =>
    inside('systemctl', 'show', '--value', `--property=${property}`, `deskwire@${port}`).trim()
  let apiKey = ''
  let desk: { readonly url: string; readonly fetch: Fetch }
  let endLoad: Awaited<ReturnType<typeof startLoad>>
  /** The customers and a cursor at the time of the backup. */
  let backedUp = { customers: 0, cursor: '' }

  const client = () => createClient({ baseUrl: `${desk.url}/v1`, apiKey, fetch: desk.fetch })
  const count = async () => (await client().customers.list({ limit: 1 }).page()).pagination.total
  const tryDesk = async (when: string) => {
    const { line, good } = await tryOut(desk.url, { apiKey, receiver, fetch: desk.fetch })
    report(`${when}, through nginx, TLS and PgBouncer: ${line}`, good)
  }
  const prometheus = (query: string): { status: string; data?: { result?: readonly unknown[] } } =>
    JSON.parse(
      inside(
        'curl',
        '--silent',
        '--get',
        '--data-urlencode',
        `query=${query}`,
        'http://127.0.0.1:9090/api/v1/query',
      ),
    )

  return {
    before: {
      Upgrade: async () => {
        endLoad = await startLoad(`${desk.url}/v1`, { apiKey, receiver, fetch: desk.fetch })
        await delay(3_000)
      },
    },
    after: {
      'The service': async (printed) => {
        const users = ports.map((port) => inside('ps', '-o', 'user=', '-p', shown(port, 'MainPID')).trim())
        report(
          `deskwire@8080 and deskwire@8081 run as ${users.join(' and ')}`,
          users.every((user) => user === 'deskwire'),
        )
        const checks: readonly string[] = printed.match(/\b(?:ok|warning|failed)\b/g) ?? []
        report(
          `deskwire doctor: ${['ok', 'warning', 'failed'].map((how) => `${checks.filter((one) => one === how).length} ${how}`).join(', ')}`,
          checks.includes('ok') && !checks.includes('failed'),
        )
      },
      TLS: async (printed) => {
        apiKey = inside('cat', '/var/lib/deskwire/first-key').trim()
        const authority = inside('cat', '/etc/ssl/deskwire/fullchain.pem')
        const [host = '', port = ''] = machine.address(443).split(':')
        const dispatcher = new Agent({
          connect: {
            ca: authority,
            lookup: (_name, _options, found) => found(null, [{ address: host, family: 4 }]),
          },
        })
        desk = {
          url: `https://${site}:${port}`,
          fetch: (url, init) =>
            fetchBy(url, { ...init, dispatcher } as never) as unknown as Promise<Response>,
        }
        report('the customer of the guide is made', /"name":"Ada Lovelace"/.test(printed))
        const outside = await Promise.all(
          ['/metrics', '/readyz', '/healthz'].map(
            async (path) => (await desk.fetch(desk.url + path, {})).status,
          ),
        )
        report(
          `/metrics, /readyz, /healthz from outside: ${outside.join(', ')}`,
          outside.join() === '404,404,200',
        )
        await tryDesk('a day of the installation')
      },
      Metrics: async () => {
        const up = (): number => prometheus('up{job="deskwire"} == 1').data?.result?.length ?? 0
        await until(() => up() === ports.length)
        // A rate needs two scrapes.
        await until(
          () =>
            (prometheus('rate(deskwire_http_request_duration_seconds_count[1m])').data?.result?.length ?? 0) >
            0,
        )
        const rules = JSON.parse(inside('curl', '--silent', 'http://127.0.0.1:9090/api/v1/rules')) as {
          data: { groups: { rules: { health: string }[] }[] }
        }
        const all = rules.data.groups.flatMap((group) => group.rules)
        const unsound = all.filter(({ health }) => health === 'err').length
        report(
          `Prometheus scrapes ${up()} processes and has ${all.length} rules, ${unsound} of which fail`,
          unsound === 0 && all.length > 0,
        )
        const expressions = dashboardExpressions()
        const answers = expressions.map((expression) => prometheus(expression))
        const refused = expressions.filter((_, n) => answers[n]?.status !== 'success')
        const answered = answers.filter(({ data }) => (data?.result?.length ?? 0) > 0).length
        report(
          `of the dashboard's ${expressions.length} expressions it answers ${expressions.length - refused.length}, ${answered} with figures${refused.map((expression) => `; refused: ${expression}`).join('')}`,
          refused.length === 0 && answered > expressions.length / 2,
        )
      },
      Backup: async () => {
        let cursor = ''
        for await (const page of client().customers.sync({})) cursor = page.cursor
        backedUp = { customers: await count(), cursor }
        const later = await client().customers.create({ name: 'After the backup' })
        report(`a customer is made after the backup (${backedUp.customers} were before)`, later.id !== '')
      },
      Restore: async () => {
        const now = await count()
        report(`${now} customers are there again, and that one is not`, now === backedUp.customers)
        const refusal = await client()
          .customers.sync({ cursor: backedUp.cursor })
          [Symbol.asyncIterator]()
          .next()
          .then(
            () => 'accepted',
            (error: { code?: string }) => error.code ?? String(error),
          )
        report(`a cursor from before: ${refusal}`, refusal === 'cursor_too_old')
        await tryDesk('after it')
      },
      Upgrade: async (printed) => {
        const seen = await endLoad()
        const applied = printed.match(/\b20\d{6}-\d\d-[\w-]+/g)?.length ?? 0
        report(
          `from ${revision} to this release, ${applied} migrations, beside ${seen.acknowledged} writes: ${seen.noticed.length} answers of 5xx or none at all${listed(seen.noticed)}, ${seen.failed.length} calls failed${listed(seen.failed)}, the slowest answer after ${Math.round(seen.slowest)} ms`,
          seen.failed.length === 0 && seen.noticed.length === 0 && seen.acknowledged > 0,
        )
        report(
          `${seen.missing} acknowledged writes are lost, the copy is ${seen.exact ? 'exact' : 'not exact'}, ${seen.undelivered} events were not delivered`,
          seen.missing === 0 && seen.exact && seen.undelivered === 0,
        )
        const running = inside('pgrep', '--uid', 'deskwire', '--list-full')
        const of = (release: string) =>
          running.split('\n').filter((one) => one.includes(`${release}/`)).length
        report(
          `${of('/opt/deskwire-1')} processes run from /opt/deskwire-1, ${of('/opt/deskwire-2')} from /opt/deskwire-2`,
          of('/opt/deskwire-1') === 0 && of('/opt/deskwire-2') > 0,
        )
        await tryDesk('after it')
      },
    },
  }
}

function listed(what: readonly string[]): string {
  return what.length === 0 ? '' : ` (${[...new Set(what)].slice(0, 3).join('; ')})`
}

/** As Grafana sends them. */
function dashboardExpressions(): readonly string[] {
  const text = readFileSync(join(root, 'deploy/grafana/deskwire.json'), 'utf8')
  const found = [...text.matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)].map(
    ([, quoted = '""']) => JSON.parse(quoted) as string,
  )
  return found.map((expression) => expression.replaceAll(/\$__rate_interval|\$__interval|\$__range/g, '1m'))
}
