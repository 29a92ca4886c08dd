/**
 * `npm run check -- unit`: `deploy/deskwire.service` under systemd in a container, made of Debian's packages and of the
 * image that `npm run check -- image` builds.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newToken } from '../../packages/service/src/auth/token.ts'
import { startHooks } from '../../packages/testbed/arrivals.ts'
import { report } from '../report.ts'
import { ownAddress, root } from './containers.ts'
import { makeMachineImage, startMachine } from './machine.ts'
import { tryOut } from './trial.ts'

const image = 'localhost/deskwire-systemd'

await tryUnit()

async function tryUnit(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'deskwire-unit-'))
  const address = ownAddress()
  const receiver = await startHooks(address)
  const apiKey = newToken()
  const settings = join(scratch, 'deskwire.env')
  const env = { DESKWIRE_HOST: '0.0.0.0', DESKWIRE_BOOTSTRAP_KEY: apiKey, DESKWIRE_LOG_LEVEL: 'info' }
  const trial = { DESKWIRE_TRUSTED_TARGETS: `${address}/32`, DESKWIRE_TARGET_CA: '/etc/deskwire-ca.pem' }
  const write = (more: Readonly<Record<string, string>> = {}) =>
    writeFileSync(
      settings,
      Object.entries({ ...env, ...trial, ...more })
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    )
  write()
  // As the guide has an operator set up a machine.
  makeMachineImage(
    image,
    'localhost/deskwire',
    [
      'userdel deskwire && ln -s /usr/local/bin/node /usr/bin/node',
      'useradd --system --home-dir /var/lib/deskwire --shell /usr/sbin/nologin deskwire',
    ],
    { '/etc/systemd/system/deskwire.service': join(root, 'deploy/deskwire.service') },
  )
  const machine = await startMachine('deskwire-systemd', image, [8080])
  const { inside, until } = machine
  const shown = (property: string) =>
    inside('systemctl', 'show', '--value', `--property=${property}`, 'deskwire').trim()
  const untilServed = (url: string) => until(async () => (await fetch(`${url}/readyz`)).ok)
  try {
    machine.copy(settings, '/etc/deskwire.env')
    machine.copy(receiver.ca, '/etc/deskwire-ca.pem')

    const verified = inside('sh', '-c', 'systemd-analyze verify deskwire.service 2>&1').trim()
    report(`systemd-analyze verify: ${verified === '' ? 'nothing to say' : verified}`, verified === '')
    const [, exposure = '10'] =
      /exposure level for \S+: ([\d.]+)/.exec(
        inside('systemd-analyze', 'security', '--no-pager', 'deskwire.service'),
      ) ?? []
    report(`systemd-analyze security: ${exposure} of 10`, Number(exposure) < 2)

    inside('systemctl', 'enable', '--now', 'deskwire')
    const url = `http://${machine.address(8080)}`
    await untilServed(url)
    const status = inside('cat', `/proc/${shown('MainPID')}/status`)
    const of = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1] ?? ''
    const user = inside('id', '-nu', of('Uid')).trim()
    report(
      `runs as ${user}, with capabilities ${of('CapEff')}, NoNewPrivs ${of('NoNewPrivs')} and Seccomp ${of('Seccomp')}`,
      user === 'deskwire' && /^0+$/.test(of('CapEff')) && of('NoNewPrivs') === '1' && of('Seccomp') === '2',
    )
    const first = await tryOut(url, { apiKey, receiver })
    report(`embedded database: ${first.line}`, first.good)

    const keys = inside(
      'runuser',
      '-u',
      'deskwire',
      '--',
      'env',
      'DESKWIRE_DATA_DIR=/var/lib/deskwire',
      'deskwire',
      'organizations',
      'list',
    )
    report(
      `the command line beside it, as its user: organizations list answers ${keys.trim().split('\n').length} lines`,
      /\d/.test(keys),
    )

    inside('systemctl', 'kill', '--signal=KILL', '--kill-whom=main', 'deskwire')
    await until(() => shown('NRestarts') === '1')
    await untilServed(url)
    const second = await tryOut(url, { apiKey, receiver })
    report(`after SIGKILL systemd starts it again: ${second.line}`, second.good)

    const began = performance.now()
    inside('systemctl', 'stop', 'deskwire')
    const took = (performance.now() - began) / 1000
    const left = inside('sh', '-c', 'pgrep --count --uid deskwire || true').trim()
    report(
      `systemctl stop: ${shown('Result')} after ${took.toFixed(1)} s, ${left} processes left`,
      shown('Result') === 'success' && left === '0' && took < 15,
    )

    write({ DESKWIRE_PORT: 'eighty' })
    machine.copy(settings, '/etc/deskwire.env')
    inside('sh', '-c', 'systemctl start deskwire || true')
    await until(() => shown('ActiveState') === 'failed')
    const said =
      inside('journalctl', '--unit=deskwire', '--output=cat', '--lines=20')
        .split('\n')
        .find((line) => line.includes('DESKWIRE_PORT')) ?? ''
    report(
      `a setting that is not accepted: not tried again, and the journal has “${said}”`,
      said !== '' && shown('NRestarts') === '0',
    )
    console.log(`systemd ${/\d+/.exec(inside('systemctl', '--version'))?.[0]}, as process 1 of a container`)
  } finally {
    await receiver[Symbol.asyncDispose]()
    machine.remove()
    rmSync(scratch, { recursive: true })
  }
}
