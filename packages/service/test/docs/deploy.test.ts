/** What `deploy/` holds fits this release: its settings exist, and the chart has its version. The rest is for `npm run check -- chart` and others. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { root, textOf } from '../../../testbed/repository.ts'
import { settings } from '../../src/config.ts'
import { parseDatabases } from '../../src/db/databases.ts'
import { version } from '../../src/kernel/version.ts'

const files = [
  'compose.yaml',
  'compose.scaled.yaml',
  'compose.databases.yaml',
  'compose.mirror.yaml',
  'Containerfile',
  'healthcheck.mjs',
  'deskwire.service',
  'nginx.conf',
  'Caddyfile',
  'chart/values.yaml',
  'chart/templates/_helpers.tpl',
  'chart/templates/api.yaml',
  'chart/templates/migrate.yaml',
  'chart/templates/mirror.yaml',
  'chart/templates/worker.yaml',
]

/** Of Caddy's site, which reads them itself, and of clients. */
const notOurs = [
  'DESKWIRE_SITE',
  'DESKWIRE_UPSTREAM',
  'DESKWIRE_URL',
  'DESKWIRE_API_KEY',
  'DESKWIRE_HASH_KEY',
]

test('every setting that is named exists', () => {
  const known: readonly string[] = [...Object.values(settings).map(({ variable }) => variable), ...notOurs]
  const named = files.flatMap((file) => textOf(`deploy/${file}`).match(/\bDESKWIRE_[A-Z_]*[A-Z]\b/g) ?? [])
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((name) => !known.includes(name))).toEqual([])
})

test('the chart is of this release', () => {
  const chart = parse(textOf('deploy/chart/Chart.yaml')) as Record<string, unknown>
  expect([chart.version, chart.appVersion]).toEqual([version, version])
})

test('no pod of the chart gets the variables of Services', () => {
  expect(textOf('deploy/chart/templates/_helpers.tpl')).toMatch(
    /define "deskwire.pod" -}}\n[^{]*^enableServiceLinks: false$/m,
  )
  const templates = files
    .map((file) => textOf(`deploy/${file}`))
    .filter((text) => /^ +containers:$/m.test(text))
  expect(templates.length).toBe(4)
  for (const template of templates) expect(template).toMatch(/\{- include "deskwire.pod" /)
})

test.each(['', 'tcp://10.0.0.1:8080'])('the health check takes the port %j for none', (port) => {
  const env = { PATH: process.env.PATH, DESKWIRE_ROLE: 'worker', DESKWIRE_PORT: port }
  const { status, stderr } = spawnSync('node', [join(root, 'deploy/healthcheck.mjs')], {
    env,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
})

test('services of the compose files have what the guide promises', () => {
  for (const [file, servers] of Object.entries({
    'compose.yaml': ['postgres'],
    'compose.scaled.yaml': ['postgres'],
    'compose.databases.yaml': ['postgres-one', 'postgres-two'],
  })) {
    const { services, networks, volumes } = parse(textOf(`deploy/${file}`), { merge: true })
    expect(networks.database.internal).toBe(true)
    for (const server of servers) {
      expect(services[server].networks).toEqual(['database'])
      expect(services[server].healthcheck.test).toContain('pg_isready')
      expect(services[server].volumes).toEqual([`${server}:/var/lib/postgresql`])
      expect(Object.keys(volumes)).toContain(server)
    }
    for (const name of Object.keys(services).filter((service) => services[service].image === 'deskwire'))
      expect(services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'], stop_grace_period: '30s' })
  }
})

test('a mirror has commands that exist, its own database, and no secret of the service', () => {
  const [base, { services, networks, volumes }] = ['compose.yaml', 'compose.mirror.yaml'].map((file) =>
    parse(textOf(`deploy/${file}`), { merge: true }),
  )
  const { mirror, reports } = services
  expect(mirror).toMatchObject({
    image: 'deskwire',
    read_only: true,
    cap_drop: ['ALL'],
    stop_grace_period: '30s',
  })
  expect(Object.keys(mirror.environment)).toEqual(['DESKWIRE_URL', 'DESKWIRE_API_KEY', 'PGPASSWORD'])
  for (const name of Object.keys(mirror.depends_on))
    expect({ ...base.services, ...services }).toHaveProperty(name)
  for (const name of mirror.networks) expect({ ...base.networks, ...networks }).toHaveProperty(name)
  expect(reports).toMatchObject({ networks: ['reports'], volumes: ['reports:/var/lib/postgresql'] })
  expect(volumes).toHaveProperty('reports')
  const reference = textOf('docs/reference/commands.md')
  for (const [command, ...words] of [mirror.command, mirror.healthcheck.test.slice(2)].map(
    ([, name, ...rest]: string[]) => [`mirror ${name}`, ...rest],
  )) {
    const [, help = ''] = reference.split(`\n## ${command}\n`)
    for (const flag of words.filter((word) => word?.startsWith('--')))
      expect(help.split('\n## ')[0]).toContain(`  ${flag} `)
    expect(words).toContain('postgres://deskwire@reports/deskwire')
  }
})

test('processes of compose.databases.yaml are given both of its servers, and start without the second', () => {
  const { services } = parse(textOf('deploy/compose.databases.yaml'), { merge: true })
  for (const name of ['api', 'worker']) {
    const { environment, depends_on: needs } = services[name]
    const setting = parseDatabases(environment.DESKWIRE_DATABASES.replaceAll(/\$\{[^}]*\}/g, 'password'))
    expect(setting).toEqual({
      databases: ['one', 'two'].map((database) => ({
        name: database,
        url: `postgres://deskwire:password@postgres-${database}/deskwire`,
        directUrl: null,
      })),
    })
    expect(needs).toEqual({
      'postgres-one': { condition: 'service_healthy' },
      'postgres-two': { condition: 'service_started' },
    })
  }
})

test('no install script of a package runs, here or in the image', () => {
  expect(textOf('.npmrc')).toContain('ignore-scripts=true')
  for (const file of ['deploy/Containerfile', 'package.json', '.ci/run'])
    expect(textOf(file)).not.toMatch(/ignore-scripts[= ]false|npm rebuild/)
})

test('the image has every package of ours that the command line needs', () => {
  const folderOf = (name: string) => name.replace('@deskwire/', '')
  const ours = new Set(['deskwire'])
  for (const name of ours) {
    const { dependencies = {} } = JSON.parse(textOf(`packages/${folderOf(name)}/package.json`))
    for (const needed of Object.keys(dependencies)) if (needed.startsWith('@deskwire/')) ours.add(needed)
  }
  const file = textOf('deploy/Containerfile')
  const unpacked = /for name in (.*); do/.exec(file)?.[1]?.split(' ') ?? []
  expect(unpacked.toSorted()).toEqual([...ours].toSorted())
  const installed = [...file.matchAll(/--workspace=packages\/([\w-]+)/g)].map(([, name]) => name)
  expect(installed.toSorted()).toEqual([...ours].map(folderOf).toSorted())
})
