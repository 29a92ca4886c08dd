import { execFileSync } from 'node:child_process'
import { networkInterfaces } from 'node:os'
import { fileURLToPath } from 'node:url'

/** Of the checkout. */
export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Returns standard output; DEPLOY_LOG=1 shows standard error. Throws when it fails. */
export function run(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): string {
  return execFileSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', process.env.DEPLOY_LOG === undefined ? 'pipe' : 'inherit'],
    maxBuffer: 64 * 2 ** 20,
  })
}

export function podman(...args: readonly string[]): string {
  return run('podman', args)
}

/** Whether podman succeeds. */
export function succeeds(...args: readonly string[]): boolean {
  try {
    podman(...args)
    return true
  } catch {
    return false
  }
}

/** An address of this machine that containers can reach. */
export function ownAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((of) => of ?? [])
  const found = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)
  if (found === undefined)
    throw new Error('this machine has no address but the loopback, which containers cannot reach')
  return found.address
}

/** Podman-compose prints podman's version first, and calls itself podman-composer. */
export function versionOf(program: string): string {
  const said = run(program, ['--version'])
  const own = new RegExp(`${program}r? version +((?:\\d+\\.)+\\d+)`).exec(said)
  return `${program} ${own?.[1]}`
}
