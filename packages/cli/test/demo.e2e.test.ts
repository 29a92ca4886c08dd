/** `deskwire demo`: everything arrives both ways, the exit code says so, and nothing is left. */
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@deskwire/sdk'
import { expect, test } from 'vitest'
import { eventually } from '../../testbed/eventually.ts'
import { temporaryDataDir } from '../../testbed/installation.ts'
import { deskwire, serve, startDeskwire } from '../../testbed/services.ts'
import { runHere } from './run-here.ts'

test('it shows changes at the receiver and in the sync, with a worker killed in between', async () => {
  await using place = await temporaryDataDir()
  const ran = await deskwire(['demo'], { settings: { TMPDIR: place.parent }, cwd: place.parent })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  const inOrder = [
    /^Service {4}(http:\S+)\/v1$/m,
    /^Receiver {3}https:\S+, registered for \d+ event types$/m,
    /^customer\.created x 2 +verified, [\d.]+ m?s +same \d+ bytes, \S+Z$/m,
    /^ticket\.updated +verified, /m,
    /^ticket\.status_changed +verified, /m,
    /^kill -9 \d+: the worker, in the middle of an attempt, with 12 tickets under way\.$/m,
    /^Its successor sent that event again after [\d.]+ s, under the same id: \S{36}$/m,
    /^ticket\.created x 12 +verified, [\d.]+ m?s +same \d+ bytes, /m,
    /^customer\.deleted +verified, .*\n^ticket\.deleted +verified, /m,
    /^The copy of customers is exact: 1, digest [0-9a-f]{16}$/m,
    /^The copy of tickets is exact: 12, digest [0-9a-f]{16}$/m,
    /^Everything arrived both ways, and nothing was lost\. [\d.]+ s\.$/m,
  ].map((line) => {
    expect(ran.stdout).toMatch(line)
    return ran.stdout.search(line)
  })
  expect(inOrder).toEqual([...inOrder].sort((a, b) => a - b))
  // Its own service is gone, with everything that it wrote.
  const [, url] = /^Service +(\S+)\/v1$/m.exec(ran.stdout) ?? []
  await expect(fetch(`${url}/healthz`)).rejects.toThrow()
  expect(readdirSync(place.parent)).toEqual([])
})

test('interrupted, it still cleans up', async () => {
  await using place = await temporaryDataDir()
  await using demo = startDeskwire(['demo'], { settings: { TMPDIR: place.parent }, cwd: place.parent })
  await eventually('the worker is killed', () => demo.output.stdout.includes('kill -9'))
  const ended = await demo.end('SIGINT')
  expect(ended).toMatchObject({ code: 1, stderr: 'deskwire: the demo was interrupted\n' })
  expect(readdirSync(place.parent)).toEqual([])
})

test('at a service of somebody else it kills nothing and leaves nothing', async () => {
  await using place = await temporaryDataDir({ installed: true })
  const key = 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22'
  const dir = join(place.parent, 'listen')
  mkdirSync(dir)
  const { stdout: ca } = await runHere(['listen', '--ca', '--dir', dir])
  await using service = await serve([], {
    settings: {
      DESKWIRE_DATA_DIR: place.path,
      DESKWIRE_BOOTSTRAP_KEY: key,
      DESKWIRE_TRUSTED_TARGETS: '127.0.0.0/8',
      DESKWIRE_TARGET_CA: ca.trim(),
    },
  })
  const ran = await deskwire(['demo', '--json', '--dir', dir, '--url', service.url, '--key', key])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  const steps = ran.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(steps.map(({ step, type }) => type ?? step)).toEqual([
    'server',
    'receiver',
    'customer.created',
    'ticket.created',
    'ticket.updated',
    'ticket.status_changed',
    'not killed',
    'ticket.created',
    'deleted',
    'customer.deleted',
    'ticket.deleted',
    'exact',
    'exact',
    'done',
  ])
  expect(steps.at(-1)).toMatchObject({ ok: true })
  const client = createClient({ baseUrl: `${service.url}/v1`, apiKey: key })
  for (const list of [client.webhooks.list(), client.customers.list(), client.tickets.list()]) {
    expect((await list.page()).pagination.total).toBe(0)
  }

  // Not its authority: no delivery can arrive, and the demo says so.
  const other = ['--dir', join(place.parent, 'other')]
  const failed = await runHere(['demo', ...other, '--url', service.url, '--key', key])
  expect(failed.code).toBe(1)
  expect(failed.stderr).toMatch(/^deskwire: the service cannot deliver here \(tls_error, [^\n]+\n$/)
  expect((await client.webhooks.list().page()).pagination.total).toBe(0)
})
