/** Services and keys that `deskwire login` has kept, in the user's config directory, for its user alone. */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { readJson } from '@deskwire/sdk/json'
import { CommandFailure } from './failure.ts'
import { makeDirectory, replaceFile } from './files.ts'
import { UsageError } from './usage-error.ts'

interface Profile {
  readonly baseUrl: string
  readonly apiKey: string
}

type Profiles = Readonly<Record<string, Profile>>

const usual = 'default'

/** Where they are kept. */
export function profilesPath(): string {
  const { APPDATA, XDG_CONFIG_HOME } = process.env
  const home = process.platform === 'win32' && APPDATA ? APPDATA : XDG_CONFIG_HOME
  return join(home || join(homedir(), '.config'), 'deskwire', 'profiles.json')
}

/** The name that a flag or the environment gives. */
export function profileName(given: string | null | undefined): string {
  const name = given ?? (process.env.DESKWIRE_PROFILE || usual)
  if (/^[\w.-]{1,64}$/.test(name)) return name
  throw new UsageError(`a profile's name is letters, digits, ".", "_" and "-": not ${JSON.stringify(name)}`)
}

/**
 * The profile of that name, or of the environment's; null where nobody named one and there is none. @throws
 * UsageError
 */
export function namedProfile(given: string | null): Profile | null {
  const name = profileName(given)
  const profiles = readProfiles()
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile !== undefined) return profile
  if (given === null && !process.env.DESKWIRE_PROFILE) return null
  const known = Object.keys(profiles)
  throw new UsageError(
    `there is no profile ${name}${known.length === 0 ? '' : `, but ${known.join(', ')}`}: deskwire login --profile ${name} makes it`,
  )
}

/** Keeps a profile, in the place of one of that name; null forgets it. @returns whether there was one. */
export async function keepProfile(name: string, profile: Profile | null): Promise<boolean> {
  const { [name]: former, ...others } = readProfiles()
  const path = profilesPath()
  if (profile === null && former === undefined) return false
  const all = profile === null ? others : { ...others, [name]: profile }
  try {
    await makeDirectory(dirname(path))
    await replaceFile(path, `${JSON.stringify(all, null, 2)}\n`)
  } catch (error) {
    const home = process.platform === 'win32' ? 'APPDATA' : 'XDG_CONFIG_HOME'
    throw new CommandFailure(
      `profiles cannot be kept (${(error as Error).message}): set ${home} to a directory that you may write`,
    )
  }
  return former !== undefined
}

function readProfiles(): Profiles {
  const path = profilesPath()
  try {
    const all: unknown = readJson(readFileSync(path, 'utf8'))
    if (isProfiles(all)) return all
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return {}
    if (code !== undefined) throw error
  }
  throw new CommandFailure(`${path} does not hold profiles: delete it, and run deskwire login again`)
}

function isProfiles(all: unknown): all is Profiles {
  if (typeof all !== 'object' || all === null || Array.isArray(all)) return false
  return Object.values(all).every(
    (one) => typeof one?.baseUrl === 'string' && typeof one?.apiKey === 'string',
  )
}
