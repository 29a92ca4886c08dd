/**
 * The certificate authority of the local receiver: made once and kept in a directory, so that a service which was told
 * to trust it trusts every later receiver as well. Promise: its key appears whole or not at all, only its owner can
 * read it, and it is never replaced; of other files, only a certificate that a former authority left is.
 */
import { randomBytes, X509Certificate } from 'node:crypto'
import { dirname, join, resolve } from 'node:path'
import { CommandFailure } from '../failure.ts'
import { makeDirectory, readIfThere, replaceFile, writeOnce } from '../files.ts'
import { type Authority, createAuthority, openAuthority } from './certificates.ts'

export interface KnownAuthority extends Authority {
  /** The certificate's file, for DESKWIRE_TARGET_CA. */
  readonly caPath: string
}

const dayMs = 24 * 60 * 60 * 1000
const validFor = 3650 * dayMs
const authorityName = 'Deskwire local receivers'

/** Next to the data of a service on this machine, which trusts it with `serve --dev`. */
export function defaultDirectory(dataDir = process.env.DESKWIRE_DATA_DIR || './data'): string {
  return `${dataDir}/listen`
}

/** The authority kept in `directory`, made first where there is none. */
export async function keepAuthority(directory: string): Promise<KnownAuthority> {
  const place = resolve(directory)
  const path = join(place, 'authority.pem')
  const caPath = join(place, 'ca.pem')
  try {
    await makeDirectory(place)
    const found = await readIfThere(caPath)
    if (found !== null && !isOwn(found))
      throw new CommandFailure(
        `${caPath} is not a certificate of deskwire listen: move it away, or give --dir another directory`,
      )
    const text = (await readIfThere(path)) ?? (await create(path))
    const authority = open(text, path)
    // The certificate alone, for those who are to trust it. Anybody may read it.
    if (found !== authority.ca) await replaceFile(caPath, authority.ca, 0o644)
    return { ...authority, caPath }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined || error instanceof CommandFailure) throw error
    throw new CommandFailure(
      `${place} cannot hold the certificate authority (${message}): give --dir another`,
    )
  }
}

function open(text: string, path: string): Authority {
  const advice = 'delete the file for a new one, and start the service again, as it has to trust the new one'
  const [, key, ca] = /^(-+BEGIN PRIVATE KEY[\s\S]*?)(-+BEGIN CERTIFICATE-[\s\S]*)$/.exec(text) ?? []
  if (key === undefined || ca === undefined) {
    throw new CommandFailure(`${path} does not hold a certificate authority: ${advice}`)
  }
  let authority: Authority
  try {
    authority = openAuthority(ca, key)
  } catch (error) {
    throw new CommandFailure(`${path} does not open (${(error as Error).message}): ${advice}`)
  }
  if (new X509Certificate(ca).validToDate.getTime() < Date.now() + dayMs) {
    throw new CommandFailure(`the certificate authority in ${path} has expired: ${advice}`)
  }
  return authority
}

/** Key and certificate in one file, so that no two starts can mix theirs: one wins, and all read that one. */
async function create(path: string): Promise<string> {
  const { key, ca } = createAuthority(authorityName, {
    notAfter: new Date(Date.now() + validFor),
  })
  return await writeOnce(path, key + ca)
}

/** Whether it is the certificate of an authority that `create` made. */
function isOwn(text: string): boolean {
  try {
    return new X509Certificate(text).subject === `CN=${authorityName}`
  } catch {
    return false
  }
}

/** The secret that forwarded deliveries are signed with, made once and kept in the directory of the authority. */
export async function keepSecret({ caPath }: KnownAuthority): Promise<string> {
  const path = join(dirname(caPath), 'secret')
  const secret = (await writeOnce(path, `whsec_${randomBytes(32).toString('base64')}\n`)).trim()
  if (/^whsec_\S+$/.test(secret)) return secret
  throw new CommandFailure(`${path} does not hold a secret (whsec_…): delete the file for a new one`)
}
