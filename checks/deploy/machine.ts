/** A Debian machine with systemd: a container, made by buildah and run by podman. */
import { setTimeout as delay } from 'node:timers/promises'
import { podman, run, succeeds } from './containers.ts'

/** The image of one: another image with systemd, these scripts and these files. */
export function makeMachineImage(
  name: string,
  from: string,
  scripts: readonly string[],
  files: Readonly<Record<string, string>> = {},
): void {
  const container = run('buildah', ['from', from]).trim()
  const shell = ['--user=root', '--isolation=chroot', '--network=host', container, 'sh', '-c']
  const systemd = 'apt-get -qq install --no-install-recommends dbus systemd systemd-sysv procps > /dev/null'
  for (const script of [`apt-get -qq update && ${systemd}`, ...scripts])
    run('buildah', ['run', ...shell, script])
  for (const [target, source] of Object.entries(files))
    run('buildah', ['copy', '--quiet', '--chmod=644', container, source, target])
  const config = ['--user=root', '--workingdir=/', '--entrypoint=["/sbin/init"]', '--cmd=']
  run('buildah', ['config', ...config, '--stop-signal=SIGRTMIN+3', container])
  run('buildah', ['commit', '--quiet', container, name])
  run('buildah', ['rm', container])
}

export interface Machine {
  /** Returns a command's output. Throws when it fails. */
  inside(...command: readonly string[]): string
  copy(from: string, to: string): void
  /** Where a port of it is reached: `127.0.0.1:PORT`. */
  address(port: number): string
  /** Resolves when it holds; an error counts as not yet. Rejects after a minute, with the end of the journal. */
  until(holds: () => boolean | Promise<boolean>): Promise<void>
  remove(): void
}

/** Resolves when systemd has started. RUN_FLAGS: further flags of `podman run`, for access to registries. */
export async function startMachine(name: string, image: string, ports: readonly number[]): Promise<Machine> {
  const inside = (...command: readonly string[]) => podman('exec', name, ...command)
  const machine: Machine = {
    inside,
    copy: (from, to) => void podman('cp', from, `${name}:${to}`),
    address: (port) => podman('port', name, String(port)).trim(),
    async until(holds) {
      const end = performance.now() + 60_000
      while (!(await attempt(holds))) {
        if (performance.now() > end)
          throw new Error(`a minute has gone: ${inside('journalctl', '--no-pager', '--lines=30')}`)
        await delay(300)
      }
    },
    remove: () => void succeeds('rm', '--force', '--time=5', '--volumes', name),
  }
  const flags = process.env.RUN_FLAGS?.split(' ') ?? []
  const published = ports.map((port) => `--publish=127.0.0.1::${port}`)
  podman(
    'run',
    '--detach',
    '--replace',
    `--name=${name}`,
    '--privileged',
    '--systemd=always',
    ...flags,
    ...published,
    image,
  )
  // It exits with 1 where a unit of the machine's own has failed.
  const state = ['sh', '-c', 'systemctl is-system-running || true']
  await machine.until(() => /running|degraded/.test(inside(...state)))
  return machine
}

async function attempt(holds: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await holds()
  } catch {
    return false
  }
}
