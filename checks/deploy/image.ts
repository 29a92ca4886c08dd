/**
 * `npm run check -- image`: the image and the files for compose, as root with Debian's buildah, podman, podman-compose, netavark and
 * aardvark-dns; mmdebstrap makes the images that they begin with of Debian's packages where they are not there. What the
 * machine's own podman and npm need, such as another runtime or a certificate, is for CONTAINERS_CONF, BUILDAH_ISOLATION and, flags
 * of `buildah build`, BUILD_FLAGS to say.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { commands } from '../../packages/cli/src/commands.ts'
import { createClient } from '../../packages/sdk/src/index.ts'
import { newToken } from '../../packages/service/src/auth/token.ts'
import { type Hooks, startHooks } from '../../packages/testbed/arrivals.ts'
import { report } from '../report.ts'
import { provideBaseImages } from './base-images.ts'
import { ownAddress, podman, root, run, succeeds, versionOf } from './containers.ts'
import { tryOut, writes } from './trial.ts'

const hardened = ['--read-only', '--cap-drop=all', '--security-opt=no-new-privileges']

interface Trial {
  readonly receiver: Hooks
  readonly apiKey: string
  /** In addition to an operator's settings: the receiver has no public address. */
  readonly environment: Readonly<Record<string, string>>
  readonly ca: string
  readonly scratch: string
}

await tryImage()

async function tryImage(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'deskwire-image-'))
  const address = ownAddress()
  const receiver = await startHooks(address)
  const apiKey = newToken()
  const environment = {
    DESKWIRE_BOOTSTRAP_KEY: apiKey,
    DESKWIRE_TRUSTED_TARGETS: `${address}/32`,
    DESKWIRE_TARGET_CA: '/etc/deskwire/ca.pem',
  }
  const trial = { receiver, apiKey, environment, ca: receiver.ca, scratch }
  try {
    const made = provideBaseImages()
    build()
    await tryEmbedded(trial)
    await tryCompose(trial)
    await tryScaled(trial)
    await tryDatabases(trial)
    const from = made.length > 0 ? `; made here of Debian's packages: ${made.join(', ')}` : ''
    console.log(`${['podman', 'buildah', 'podman-compose'].map(versionOf).join(', ')}${from}`)
  } finally {
    await receiver[Symbol.asyncDispose]()
    rmSync(scratch, { recursive: true })
  }
}

function build(): void {
  const began = performance.now()
  // Only Docker's format keeps the health check.
  run('buildah', [
    'build',
    '--quiet',
    '--format=docker',
    '--network=host',
    ...(process.env.BUILD_FLAGS?.split(' ') ?? []),
    '--file=deploy/Containerfile',
    '--tag=deskwire',
    root,
  ])
  const took = Math.round((performance.now() - began) / 1000)
  const [image] = JSON.parse(podman('image', 'inspect', 'deskwire')) as [
    { Size: number; User: string; Healthcheck?: object },
  ]
  const good = image.User === '10001:10001' && image.Healthcheck !== undefined
  report(
    `built in ${took} s: ${Math.round(image.Size / 1e6)} MB, user ${image.User}, with a health check`,
    good,
  )
}

/** One container with the embedded database on a volume: stopped, killed, and started again. */
async function tryEmbedded({ receiver, apiKey, environment, ca }: Trial): Promise<void> {
  const name = `deskwire-${randomBytes(3).toString('hex')}`
  const variables = Object.entries(environment).flatMap(([variable, value]) => [
    '--env',
    `${variable}=${value}`,
  ])
  const volumes = [`--volume=${name}:/data`, `--volume=${ca}:${environment.DESKWIRE_TARGET_CA}:ro`]
  const start = () =>
    podman(
      'run',
      '--detach',
      `--name=${name}`,
      ...hardened,
      ...volumes,
      ...variables,
      '--publish=127.0.0.1::8080',
      'deskwire',
    )
  const url = () => `http://${podman('port', name, '8080').trim()}`
  const count = async () =>
    (
      await createClient({ baseUrl: `${url()}/v1`, apiKey })
        .customers.list({ limit: 1 })
        .page()
    ).pagination.total
  try {
    start()
    await untilHealthy(name)
    const writable = ['/', '/usr', '/opt/deskwire'].filter((path) =>
      succeeds('exec', name, 'touch', `${path}/x`),
    )
    const uid = podman('exec', name, 'id', '-u').trim()
    report(
      `user ${uid} in the container, ${writable.length === 0 ? 'the root file system is read-only' : `writable: ${writable}`}`,
      uid === '10001' && writable.length === 0,
    )
    const { line, good } = await tryOut(url(), { apiKey, receiver })
    report(`embedded database on a volume: ${line}`, good)
    const missing = commands.filter(
      (command) => !succeeds('exec', name, 'deskwire', ...command.name.split(' '), '--help'),
    )
    report(
      `every command is there: ${commands.length - missing.length} of ${commands.length}`,
      missing.length === 0,
    )
    const copy = ['--to=/data/copy.db', '--url=http://127.0.0.1:8080/v1', `--key=${apiKey}`]
    const copied = [
      ['mirror', 'run', '--once'],
      ['mirror', 'verify'],
      ['mirror', 'repair'],
    ].filter((words) => succeeds('exec', name, 'deskwire', ...words, ...copy))
    report(`a copy in SQLite: ${copied.map(([, command]) => command).join(', ')}`, copied.length === 3)

    const began = performance.now()
    podman('stop', '--time=30', name)
    const stopped = performance.now() - began
    const code = podman('inspect', '--format={{.State.ExitCode}}', name).trim()
    report(
      `SIGTERM: exit code ${code} after ${(stopped / 1000).toFixed(1)} s`,
      code === '0' && stopped < 15_000,
    )
    podman('rm', name)
    start()
    await untilHealthy(name)
    const after = await count()
    report(`another container on the volume: ${after} of ${writes} rows`, after === writes)
    podman('kill', '--signal=KILL', name)
    podman('rm', '--force', name)
    start()
    await untilHealthy(name)
    const again = await tryOut(url(), { apiKey, receiver })
    report(`and one after SIGKILL: ${again.line}`, again.good && (await count()) === 2 * writes)
  } finally {
    succeeds('rm', '--force', '--time=10', name)
    succeeds('volume', 'rm', name)
  }
}

/** `deploy/compose.yaml`. */
async function tryCompose(trial: Trial): Promise<void> {
  await withCompose(trial, 'compose.yaml', ['deskwire'], {}, async () => {
    const [container = ''] = containersOf('deskwire')
    await untilHealthy(container)
    const { line, good } = await tryOut('http://127.0.0.1:8080', trial)
    report(`compose.yaml: ${line}`, good)
  })
}

/** `deploy/compose.scaled.yaml`, through Caddy and its certificate, and with one worker less. */
async function tryScaled(trial: Trial): Promise<void> {
  await withCompose(
    trial,
    'compose.scaled.yaml',
    ['api', 'worker'],
    { DESKWIRE_SITE: 'localhost' },
    async () => {
      const workers = containersOf('worker')
      const containers = [...containersOf('api'), ...workers]
      for (const container of containers) await untilHealthy(container)
      const [caddy = ''] = containersOf('caddy')
      const authority = await untilSaid(() =>
        podman('exec', caddy, 'cat', '/data/caddy/pki/authorities/local/root.crt'),
      )
      const url = 'https://localhost'
      setDefaultCACertificates([...getCACertificates('default'), authority])
      const first = await tryOut(url, trial)
      report(
        `compose.scaled.yaml, ${workers.length} workers, TLS by Caddy: ${first.line}`,
        first.good && workers.length === 2,
      )
      podman('kill', '--signal=KILL', workers[0] ?? '')
      const second = await tryOut(url, trial)
      report(`as a worker is killed: ${second.line}`, second.good)
      const inside = await Promise.all(
        ['/metrics', '/readyz'].map(async (path) => (await fetch(`${url}${path}`)).status),
      )
      report(
        `/metrics and /readyz from outside: ${inside}`,
        inside.every((status) => status === 404),
      )
    },
  )
}

/** `deploy/compose.databases.yaml`: an organization in each of two servers, one of which stops and comes back. */
async function tryDatabases(trial: Trial): Promise<void> {
  await withCompose(trial, 'compose.databases.yaml', ['api', 'worker'], {}, async () => {
    const [api = ''] = containersOf('api')
    const [worker = ''] = containersOf('worker')
    for (const container of [api, worker]) await untilHealthy(container)
    const url = 'http://127.0.0.1:8080'
    const first = await tryOut(url, trial)
    report(`compose.databases.yaml, in the first database: ${first.line}`, first.good)
    const made = podman(
      'exec',
      api,
      'deskwire',
      'organizations',
      'create',
      '--name=Second',
      '--database=two',
      '--json',
    )
    const apiKey = (JSON.parse(made) as { token: string }).token
    const second = await tryOut(url, { ...trial, apiKey })
    report(`and in the second: ${second.line}`, second.good)
    const [server = ''] = containersOf('postgres-two')
    podman('stop', '--time=10', server)
    const statusOf = async (key: string) =>
      (await fetch(`${url}/v1/customers`, { headers: { authorization: `Bearer ${key}` } })).status
    const statuses = [await statusOf(trial.apiKey), await statusOf(apiKey)]
    report(
      `the second stopped: its organization ${statuses[1]}, the other ${statuses[0]}`,
      statuses.join() === '200,503',
    )
    podman('start', server)
    for (let tries = 0; tries < 60 && (await statusOf(apiKey)) !== 200; tries++) await delay(500)
    const again = await tryOut(url, { ...trial, apiKey })
    report(`and started again: ${again.line}`, again.good)
  })
}

async function withCompose(
  { environment, ca, scratch }: Trial,
  file: string,
  services: readonly string[],
  settings: Readonly<Record<string, string>>,
  tried: () => Promise<void>,
): Promise<void> {
  const beside = join(scratch, file)
  const volumes = [`${ca}:${environment.DESKWIRE_TARGET_CA}:ro`]
  const added = Object.fromEntries(services.map((service) => [service, { environment, volumes }]))
  // JSON is YAML.
  writeFileSync(beside, JSON.stringify({ services: added }))
  const secrets = {
    POSTGRES_PASSWORD: randomBytes(24).toString('hex'),
    DESKWIRE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  }
  const compose = (...args: readonly string[]) =>
    run(
      'podman-compose',
      ['--project-name=deskwire', '--file', join(root, 'deploy', file), '--file', beside, ...args],
      {
        ...secrets,
        ...settings,
      },
    )
  try {
    compose('up', '--detach', '--no-build')
    await tried()
  } finally {
    compose('down', '--volumes')
    // Podman-compose leaves them.
    succeeds('network', 'rm', 'deskwire_outside', 'deskwire_database')
  }
}

function containersOf(service: string): readonly string[] {
  const filters = ['label=io.podman.compose.project=deskwire', `label=com.docker.compose.service=${service}`]
  return podman('ps', '--quiet', ...filters.flatMap((filter) => ['--filter', filter]))
    .split('\n')
    .filter(Boolean)
}

/** Runs the image's own check, as a timer of systemd does where there is one. */
async function untilHealthy(container: string): Promise<void> {
  const until = performance.now() + 60_000
  while (!succeeds('healthcheck', 'run', container)) {
    if (performance.now() > until)
      throw new Error(`not healthy after a minute: ${podman('logs', '--tail=20', container)}`)
    await delay(500)
  }
}

async function untilSaid(ask: () => string): Promise<string> {
  for (let tries = 0; ; tries++) {
    try {
      return ask()
    } catch (error) {
      if (tries === 30) throw error
      await delay(500)
    }
  }
}
