/**
 * The certificate authority of the local receiver: made once and kept in a directory, so that a service which was told
 * to trust it trusts every later receiver as well. Promise: its key appears whole or not at all, only its owner can
 * read it, and it is never replaced; of other files, only a certificate that a former authority left is.
 */
import { X509Certificate } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { CommandFailure } from '../failure.ts'
import { directoryMode, fileMode, partOf, replaceFile } from '../files.ts'
import { type Authority, createAuthority, openAuthority } from './certificates.ts'

export interface KnownAuthority extends Authority {
  /** The certificate's file, for DESKWIRE_TARGET_CA. */
  readonly caPath: string
}

const dayMs = 24 * 60 * 60 * 1000
const validFor = 3650 * dayMs
const authorityName = 'Deskwire local receivers'

/** Beside the data of a service on this machine. */
export function defaultDirectory(): string {
  return `${process.env.DESKWIRE_DATA_DIR || './data'}/listen`
}

/** The authority kept in `directory`, made first where there is none. */
export async function keepAuthority(directory: string): Promise<KnownAuthority> {
  const place = resolve(directory)
  const path = join(place, 'authority.pem')
  const caPath = join(place, 'ca.pem')
  try {
    await mkdir(place, { recursive: true, mode: directoryMode })
    const found = await read(caPath)
    if (found !== null && !isOwn(found))
      throw new CommandFailure(
        `${caPath} is not a certificate of deskwire listen: move it away, or give --dir another directory`,
      )
    const text = (await read(path)) ?? (await create(path))
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
  const temporary = partOf(path)
  try {
    await writeFile(temporary, key + ca, { mode: fileMode, flag: 'wx' })
    await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(temporary, { force: true })
  }
  return await readFile(path, 'utf8')
}

/** Whether it is the certificate of an authority that `create` made. */
function isOwn(text: string): boolean {
  try {
    return new X509Certificate(text).subject === `CN=${authorityName}`
  } catch {
    return false
  }
}

async function read(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
