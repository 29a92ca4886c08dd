/**
 * Downloads an account from the API of its helpdesk into a directory, page by page as they are answered, to be
 * imported from there: what was downloaded is not asked for again. A file next to the pages says where to go on.
 */

import { mkdir, open, readdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { clipped } from '@deskwire/sdk/clipped'
import { readJson } from '@deskwire/sdk/json'
import { parseRetryAfter } from '@deskwire/sdk/retry-after'
import { longestDocument, textOf } from '@deskwire/sdk/text-of'
import { CommandFailure } from '../../failure.ts'
import { directoryMode, fileMode, readIfThere, replaceFile } from '../../files.ts'
import { isJson, type Json } from './account.ts'

/** A series of pages. */
export interface Series {
  /** What its file is called. */
  readonly name: string
  /** The path of its first page. */
  readonly first: string
  /** The path of the page after this one; null at the end. */
  next(page: Json, path: string): string | null
  /** Whether the account is whole without it, as it has names alone: some plans refuse it. */
  readonly isOptional?: boolean
  /** The paths of what to store instead of the page: of a list that leaves something out. */
  instead?(page: Json): readonly string[]
}

export interface Api {
  readonly origin: string
  readonly headers: Readonly<Record<string, string>>
  /** Where its credentials come from, for one that are refused. */
  readonly credentials: string
  readonly series: readonly Series[]
}

interface State {
  readonly origin: string
  /** By series: the path of the next page, null at the end; and the bytes of its file. */
  readonly series: Readonly<Record<string, { readonly next: string | null; readonly bytes: number }>>
}

const stateName = 'download.json'
/** Repetitions after a failure that may pass. */
const patience = 8
/** How long the answer of a page may take, in milliseconds. */
const pageLimit = 300_000
/** Objects that are asked for at once. */
const atOnce = 5

/**
 * Downloads what is not there yet. @returns the files. @throws CommandFailure where the helpdesk does not answer; run
 * again, it goes on.
 */
export async function download(
  api: Api,
  directory: string,
  signal: AbortSignal,
  { onPage, onRefused }: Listener,
): Promise<readonly string[]> {
  await mkdir(directory, { recursive: true, mode: directoryMode })
  let state = await readState(api, directory)
  const paths: string[] = []
  for (const series of api.series) {
    const path = join(directory, `${series.name}.json`)
    let { next, bytes } = state.series[series.name] ?? { next: series.first, bytes: 0 }
    if (next !== null) {
      await (await open(path, 'a', fileMode)).close()
      // A process that was killed may have written more than it noted.
      await truncate(path, bytes)
      await using file = await open(path, 'a', fileMode)
      while (next !== null) {
        const text: string | null = await ask(api, next, signal).catch((error: unknown) => {
          if (!(error instanceof Refused) || !series.isOptional) throw error
          onRefused(error.message)
          return null
        })
        const page: Json | null = text === null ? null : parsed(api, next, text)
        const stored = page === null ? [] : await pagesOf(api, series, page, text ?? '', signal)
        const whole = stored.map((one) => `${one}\n`).join('')
        await file.appendFile(whole)
        bytes += Buffer.byteLength(whole)
        const following: string | null = page === null ? null : series.next(page, next)
        if (following === next)
          throw new CommandFailure(
            `${api.origin}${next} names itself as the next page: report this to the helpdesk`,
          )
        next = following
        state = { ...state, series: { ...state.series, [series.name]: { next, bytes } } }
        await replaceFile(join(directory, stateName), `${JSON.stringify(state)}\n`)
        onPage(series.name, bytes)
      }
    }
    if (bytes > 0) paths.push(path)
  }
  return paths
}

/** Is notified of what a download comes to. */
interface Listener {
  onPage(series: string, bytes: number): void
  /** A series without which the account is whole is refused. */
  onRefused(reason: string): void
}

/** The helpdesk does not give this out. */
class Refused extends CommandFailure {}

async function pagesOf(
  api: Api,
  series: Series,
  page: Json,
  text: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (series.instead === undefined) return [text]
  const paths = series.instead(page)
  const texts: string[] = []
  for (let from = 0; from < paths.length; from += atOnce) {
    const some = paths.slice(from, from + atOnce)
    texts.push(...(await Promise.all(some.map((path) => ask(api, path, signal)))))
  }
  return texts
}

/** The text of an answer. Waits as long as the helpdesk asks for. */
async function ask(api: Api, path: string, signal: AbortSignal): Promise<string> {
  const url = `${api.origin}${path}`
  for (let attempt = 0; ; attempt++) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(pageLimit)])
    const answer = await fetch(url, { headers: api.headers, redirect: 'manual', signal: limit })
      .then(async (response) => ({ response, text: await textOf(response, longestDocument) }))
      .catch((error: Error) => {
        signal.throwIfAborted()
        return error
      })
    if (!(answer instanceof Error) && answer.response.ok && answer.text !== undefined) return answer.text
    const pause =
      answer instanceof Error ? backoff(attempt) : pauseAfter(answer.response, attempt, Date.now())
    if (pause !== null && (attempt < patience || isLimited(answer))) {
      await sleep(pause, undefined, { signal })
      continue
    }
    const reason = refusal(api, url, answer)
    const status = answer instanceof Error ? 0 : answer.response.status
    // Of another address or without credentials, nothing else is given out either.
    throw status > 401 && status < 500 ? new Refused(reason) : new CommandFailure(reason)
  }
}

function isLimited(answer: Error | { readonly response: Response }): boolean {
  return !(answer instanceof Error) && answer.response.status === 429
}

function backoff(attempt: number): number {
  return Math.min(30_000, 500 * 2 ** attempt)
}

/**
 * Milliseconds until a request may be repeated, as `Retry-After` or `X-RateLimit-Reset` (seconds since 1970) asks
 * for; null for an answer that would be the same again.
 */
export function pauseAfter(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  attempt: number,
  now: number,
): number | null {
  if (status !== 429 && status < 500) return null
  const retryAfter = parseRetryAfter(headers.get('retry-after'), now)
  if (retryAfter !== undefined) return retryAfter
  const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN) * 1_000
  if (status === 429 && reset >= now) return Math.min(reset - now, 3_600_000) + 1_000
  return backoff(attempt)
}

function refusal(
  api: Api,
  url: string,
  answer: Error | { readonly response: Response; readonly text: string | undefined },
): string {
  if (answer instanceof Error) {
    const cause = answer.cause instanceof Error ? `: ${answer.cause.message}` : ''
    return `${url} does not answer (${answer.message}${cause}): run the command again to go on`
  }
  const { status, headers } = answer.response
  if (answer.text === undefined) return `${url} answers more than ${longestDocument / 2 ** 20} MiB`
  if (status === 401 || status === 403)
    return `${url} refuses the credentials (${status}): check ${api.credentials}, of an administrator`
  if (status >= 300 && status < 400)
    return `${url} redirects to ${headers.get('location')}: give the address of the account itself`
  return `${url} answers ${status}: ${clipped(answer.text, 200)}`
}

function parsed(api: Api, path: string, text: string): Json {
  try {
    const page = readJson(text)
    if (isJson(page)) return page
  } catch {
    // Falls through to the refusal.
  }
  throw new CommandFailure(
    `${api.origin}${path} does not answer an object of JSON: ${JSON.stringify(clipped(text, 100))}`,
  )
}

async function readState(api: Api, directory: string): Promise<State> {
  const text = await readIfThere(join(directory, stateName))
  if (text === null) {
    if ((await readdir(directory)).length === 0) return { origin: api.origin, series: {} }
    throw new CommandFailure(`${directory} has files and no ${stateName}: give --dir another directory`)
  }
  let state: State | null = null
  try {
    state = readJson(text) as State
  } catch {
    // Is refused below.
  }
  if (state?.origin === api.origin && typeof state.series === 'object') return state
  throw new CommandFailure(`${directory} holds no download of ${api.origin}: give --dir another directory`)
}
