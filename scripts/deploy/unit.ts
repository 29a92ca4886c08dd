/**
 * `deploy/deskwire.service`, run by a systemd: one that is process 1 of a container, made of Debian's packages and what the image
 * `deskwire` has. After the part `image`, and with the programs that this needs.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { newToken } from '../../packages/service/src/access/token.ts'
import type { Report } from '../deploy.ts'
import { ownAddress, podman, root, run, succeeds } from './containers.ts'
import { startReceiver, tryOut } from './trial.ts'

const machine = 'deskwire-systemd'
const inside = (...command: readonly string[]) => podman('exec', machine, ...command)
const shown = (property: string) =>
  inside('systemctl', 'show', '--value', `--property=${property}`, 'deskwire').trim()

export async function tryUnit(report: Report): Promise<string> {
  const scratch = mkdtempSync(join(tmpdir(), 'deskwire-unit-'))
  const address = ownAddress()
  const receiver = await startReceiver(scratch, address)
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
  try {
    makeMachine()
    podman(
      'run',
      '--detach',
      `--name=${machine}`,
      '--privileged',
      '--systemd=always',
      '--publish=127.0.0.1::8080',
      'localhost/deskwire-systemd',
    )
    podman('cp', settings, `${machine}:/etc/deskwire.env`)
    podman('cp', receiver.ca, `${machine}:/etc/deskwire-ca.pem`)
    await until(() => /running|degraded/.test(attempt(() => inside('systemctl', 'is-system-running'))))

    const verified = inside('sh', '-c', 'systemd-analyze verify deskwire.service 2>&1').trim()
    report(`systemd-analyze verify: ${verified === '' ? 'nothing to say' : verified}`, verified === '')
    const [, exposure = '10'] =
      /exposure level for \S+: ([\d.]+)/.exec(
        inside('systemd-analyze', 'security', '--no-pager', 'deskwire.service'),
      ) ?? []
    report(`systemd-analyze security: ${exposure} of 10`, Number(exposure) < 2)

    inside('systemctl', 'enable', '--now', 'deskwire')
    const url = `http://${podman('port', machine, '8080').trim()}`
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
      'org',
      'list',
    )
    report(
      `the command line beside it, as its user: org list answers ${keys.trim().split('\n').length} lines`,
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
    const left = attempt(() => inside('pgrep', '--count', '--uid', 'deskwire')).trim() || '0'
    report(
      `systemctl stop: ${shown('Result')} after ${took.toFixed(1)} s, ${left} processes left`,
      shown('Result') === 'success' && left === '0' && took < 15,
    )

    write({ DESKWIRE_PORT: 'eighty' })
    podman('cp', settings, `${machine}:/etc/deskwire.env`)
    succeeds('exec', machine, 'systemctl', 'start', 'deskwire')
    await until(() => shown('ActiveState') === 'failed')
    const said =
      inside('journalctl', '--unit=deskwire', '--output=cat', '--lines=20')
        .split('\n')
        .find((line) => line.includes('DESKWIRE_PORT')) ?? ''
    report(
      `a setting that is not accepted: not tried again, and the journal has “${said}”`,
      said !== '' && shown('NRestarts') === '0',
    )
    return `systemd ${/\d+/.exec(inside('systemctl', '--version'))?.[0]}, as process 1 of a container`
  } finally {
    receiver.close()
    succeeds('rm', '--force', '--time=5', '--volumes', machine)
    rmSync(scratch, { recursive: true })
  }
}

/** As the guide has an operator set a machine up. */
function makeMachine(): void {
  const container = run('buildah', ['from', 'localhost/deskwire']).trim()
  const shell = (script: string) =>
    run('buildah', [
      'run',
      '--user=root',
      '--isolation=chroot',
      '--network=host',
      container,
      'sh',
      '-c',
      script,
    ])
  shell(
    'apt-get -qq update && apt-get -qq install --no-install-recommends systemd systemd-sysv procps > /dev/null',
  )
  shell('userdel deskwire && ln -s /usr/local/bin/node /usr/bin/node')
  shell('useradd --system --home-dir /var/lib/deskwire --shell /usr/sbin/nologin deskwire')
  run('buildah', [
    'copy',
    '--quiet',
    '--chmod=644',
    container,
    join(root, 'deploy/deskwire.service'),
    '/etc/systemd/system/deskwire.service',
  ])
  run('buildah', [
    'config',
    '--user=root',
    '--workingdir=/',
    '--entrypoint=["/sbin/init"]',
    '--cmd=',
    '--stop-signal=SIGRTMIN+3',
    container,
  ])
  run('buildah', ['commit', '--quiet', container, 'localhost/deskwire-systemd'])
  run('buildah', ['rm', container])
}

async function untilServed(url: string): Promise<void> {
  await until(async () => (await fetch(`${url}/readyz`).catch(() => null))?.ok === true)
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000
  while (!(await holds())) {
    if (performance.now() > end)
      throw new Error(`a minute has gone: ${attempt(() => inside('journalctl', '--no-pager', '--lines=30'))}`)
    await delay(300)
  }
}

function attempt(ask: () => string): string {
  try {
    return ask()
  } catch {
    return ''
  }
}
