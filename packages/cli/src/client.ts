/** For commands that call a running service over HTTP. */
import { baseAddress, type Client, type ClientOptions, createClient } from '@deskwire/sdk'
import { namedProfile, profileName } from './profiles.ts'
import { trustSystem } from './system-authorities.ts'
import { UsageError } from './usage-error.ts'

/** The flags that say which service, of each such command. */
export const clientFlags = ['url', 'key', 'profile'] as const

/** Their help. */
export const clientHelp = `  --url BASE             the service, for example http://127.0.0.1:8080/v1 (DESKWIRE_URL)
  --key KEY              an API key of the organization (DESKWIRE_API_KEY)
  --profile NAME         what deskwire login has kept instead (DESKWIRE_PROFILE, default)
`

type TargetFlags = Partial<Record<(typeof clientFlags)[number], string>>

export interface Target {
  readonly baseUrl: string
  readonly apiKey: string
}

/**
 * Where the flags, the environment or a profile point, in this order, so that no key goes to a service that it is not
 * of; null when they name no service at all. A key in the environment and no service beside it could mean either, so
 * it is refused where there is a profile.
 */
export function readTarget(given: TargetFlags): Target | null {
  if (given.profile !== undefined) {
    if (given.url !== undefined || given.key !== undefined)
      throw new UsageError('--profile and --url or --key do not go together: a profile has both')
    return namedProfile(given.profile)
  }
  const url = given.url ?? process.env.DESKWIRE_URL
  const apiKey = given.key ?? process.env.DESKWIRE_API_KEY
  if (!url && given.key === undefined) {
    const profile = namedProfile(null)
    if (profile === null || !process.env.DESKWIRE_API_KEY) return profile
    const name = profileName(null)
    throw new UsageError(
      `there are two keys, that of the profile ${name} for ${profile.baseUrl} and DESKWIRE_API_KEY: give --profile ${name} for the profile, or set DESKWIRE_URL too for the variable`,
    )
  }
  if (!url) throw new UsageError('there is a key and no service: set DESKWIRE_URL, or give --url')
  if (!apiKey)
    throw new UsageError(
      'there is a service and no key: set DESKWIRE_API_KEY to an API key (dwk_…) of it, or give --key',
    )
  return { baseUrl: baseUrlOf(url), apiKey }
}

/** The same, where there has to be one. */
export function requireTarget(command: string, given: TargetFlags): Target {
  const target = readTarget(given)
  if (target !== null) return target
  throw new UsageError(
    `${command} needs a service and a key: set DESKWIRE_URL (for example http://127.0.0.1:8080/v1) and DESKWIRE_API_KEY, give --url and --key, or run deskwire login once`,
  )
}

export function clientOf(
  target: Target,
  options: Pick<ClientOptions, 'onResponse' | 'retries'> = {},
): Client {
  if (target.baseUrl.startsWith('https:')) trustSystem()
  try {
    return createClient({ ...target, ...options })
  } catch (error) {
    throw new UsageError(`--url and --key cannot be used: ${(error as Error).message}`)
  }
}

/** Whether the service runs on this machine, as far as its address says. */
export function isLoopback(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl)
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
}

/** The base address that a flag gives. @throws UsageError */
export function baseUrlOf(text: string, flag = '--url'): string {
  try {
    return baseAddress(text)
  } catch {
    throw new UsageError(
      `${flag}: ${JSON.stringify(text)} is not accepted; it must be like http://127.0.0.1:8080/v1`,
    )
  }
}
