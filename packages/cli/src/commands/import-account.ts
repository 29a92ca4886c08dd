import { dirname, join, resolve } from 'node:path'
import { clientFlags, clientHelp, clientOf, isLoopback, requireTarget, type Target } from '../client.ts'
import type { Command } from '../command.ts'
import { CommandFailure, exitCodes } from '../failure.ts'
import { parseFlags } from '../flags.ts'
import { openRejects } from '../import/rejects.ts'
import { barOf, count } from '../import/show.ts'
import { type Account, lineOf } from '../import/sources/account.ts'
import { intercomApi, zendeskApi } from '../import/sources/apis.ts'
import { rehearsal, service } from '../import/sources/desk.ts'
import { type Api, download } from '../import/sources/download.ts'
import { importAccount } from '../import/sources/import-account.ts'
import { intercom } from '../import/sources/intercom.ts'
import {
  type AccountProgress,
  loadAccountProgress,
  removeAccountProgress,
  saveAccountProgress,
} from '../import/sources/progress.ts'
import { type Surveyed, surveyFiles } from '../import/sources/survey.ts'
import { zendesk } from '../import/sources/zendesk.ts'
import { kindNamed } from '../kinds.ts'
import { trustSystem } from '../system-authorities.ts'
import { table } from '../table.ts'
import { plain, printError, printOut, screen } from '../terminal.ts'
import { stopSignal } from '../until-stopped.ts'
import { UsageError } from '../usage-error.ts'
import { whoIs } from './login.ts'

interface Source {
  readonly name: string
  readonly title: string
  /** What of it arrives. */
  readonly holds: string
  readonly hasTickets: boolean
  readonly files: string
  readonly url: string
  readonly variables: string
  /** What becomes of states that have other names here. */
  readonly states: string
  account(prefix?: string): Account
  api(origin: string): Api
}

const commandOf = (source: Source): Command => ({
  help: () => `deskwire import ${source.name} FILE… | URL: take in an account of ${source.title} with its past: ${source.holds}.

  --dir DIRECTORY        where to keep what a URL is downloaded to (the name of its host)
  --prefix NAME          what externalIds begin with (${source.name}): of a second account another, as both count from 1
  --dry-run              read and check everything, send nothing
  --json                 print the summary as one JSON object
${clientHelp}
${source.files}
Give all files of the account at once.

URL is the account, such as ${source.url}. It is downloaded first, at the pace that ${source.title} allows,
with ${source.variables}.
A second run imports what is there: delete the directory to download it again.

${source.states}
Rows have the externalId PREFIX-ID. A customer or teammate with the same e-mail address is the same.

No events are sent. Rows that are there stay as they are, so a second run changes nothing. The key needs * or the scopes
${lines(scopesOf(source))}.

Every record that does not arrive as it was gets a line in ${source.name}.rejects.csv, next to the files or in the directory: its kind
and id, whether it was left out, refused or changed, and why. An import that was interrupted goes on when it is run again:
${source.name}.progress.json says where.

Exit codes: 0 when everything arrived as it is; 3 when something is listed, the rest imported; 1 when it stopped, as the
message says: run it again; 2 when the command or a file is not accepted, and nothing was sent; 130 when interrupted: run it again.

Example:
  deskwire import ${source.name} ${source.url} --dry-run
`,
  async run(args) {
    const { texts, switches, words } = parseFlags(args, {
      texts: ['dir', 'prefix', ...clientFlags],
      switches: ['dry-run', 'json'],
      words: 10_000,
    })
    const isDry = switches['dry-run'] === true
    const begun = performance.now()
    const account = source.account(prefixIn(texts.prefix))
    const stop = stopSignal()
    const url = urlIn(source, words)
    if (url === null && texts.dir !== undefined)
      throw new UsageError('--dir goes with a URL: files stay where they are')
    const api = url === null ? null : source.api(url.origin)
    const target = isDry ? null : requireTarget(`import ${source.name}`, texts)
    const directory = url === null ? dirname(resolve(words[0] ?? '')) : resolve(texts.dir ?? url.hostname)
    const { surveyed, end, resumedAt } = await interruptible(stop, async () => {
      const organization = target === null ? '' : await organizationOf(source, target, stop)
      const paths = api === null ? words : await downloaded(api, directory, stop)
      const surveyed = await surveyFiles(account, paths, () => stop.throwIfAborted())
      const lacking = account.incomplete()
      if (lacking !== null) throw new UsageError(lacking)
      const to = target === null ? null : { target, organization }
      return { surveyed, ...(await take(source, account, surveyed, directory, to, stop)) }
    })
    const seconds = Number(((performance.now() - begun) / 1_000).toFixed(3))
    const read = readOf(account, surveyed, end)
    const { listed: _, ...shown } = { ...end.counts, listedFile: end.listed?.path ?? null }
    if (switches.json)
      printOut(
        `${JSON.stringify({ source: source.name, dryRun: isDry, read, rows: shown.rows, listed: end.counts.listed, rejects: shown.listedFile, resumedAt, seconds })}\n`,
      )
    else printOut(summary(source, read, end, isDry, seconds))
    if (end.listed !== null) process.exitCode = exitCodes.found
  },
})

/** @throws CommandFailure when Ctrl-C ended the work, unless it says so itself. */
async function interruptible<T>(stop: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!stop.aborted || error instanceof CommandFailure) throw error
    throw new CommandFailure('interrupted: run the same command again to go on', exitCodes.interrupted)
  }
}

/** @throws UsageError */
function prefixIn(given: string | undefined): string | undefined {
  if (given === undefined || /^[\w.-]{1,40}$/.test(given)) return given
  throw new UsageError(`--prefix is 1 to 40 letters, digits, ".", "_" and "-": not ${JSON.stringify(given)}`)
}

/** The account's address; null for files. @throws UsageError */
function urlIn(source: Source, words: readonly string[]): URL | null {
  const [first] = words
  if (first === undefined)
    throw new UsageError(
      `import ${source.name} needs files, or the URL of the account, such as ${source.url}`,
    )
  const urls = words.filter((word) => /^https?:\/\//i.test(word))
  if (urls.length === 0) return null
  if (words.length > 1 || !URL.canParse(first)) throw new UsageError('give one URL, or files')
  const url = new URL(first)
  if (url.protocol !== 'https:' && !isLoopback(url.href))
    throw new UsageError(`${first}: credentials are sent by https only`)
  return url
}

async function downloaded(api: Api, directory: string, stop: AbortSignal): Promise<readonly string[]> {
  if (api.origin.startsWith('https:')) trustSystem()
  try {
    return await download(api, directory, stop, {
      onPage: (series, bytes) => screen.line(`${series}: ${count(bytes)} bytes`),
      onRefused: (reason) => printError(`deskwire: ${reason}; the import goes on without these names\n`),
    })
  } finally {
    screen.line('')
  }
}

/** Lines that are shown one by one; the file has them all. */
const shownLines = 20

async function take(
  source: Source,
  account: Account,
  surveyed: Surveyed,
  directory: string,
  to: { readonly target: Target; readonly organization: string } | null,
  stop: AbortSignal,
): Promise<{ end: AccountProgress; resumedAt: number }> {
  const progressPath = join(directory, `${source.name}.progress.json`)
  const target = `${to?.organization ?? ''} ${account.prefix}`
  const of = { files: surveyed.files.map(({ sha256 }) => sha256), target }
  const found = to === null ? null : await loadAccountProgress(progressPath, of)
  const layout = {
    kind: kindNamed('customers'),
    header: ['kind', 'id', 'outcome'],
    columns: [],
    idColumn: null,
    idColumns: [],
    isHistory: true,
    isLines: false,
    ignored: [],
  }
  await using rejects = await openRejects(join(directory, `${source.name}.csv`), {
    layout,
    delimiter: ',',
    kept: found?.listed ?? null,
  })
  const { person, thread, comments } = surveyed.records
  const total = person + thread + comments
  const doneOf = ({ done }: AccountProgress) => done.person + done.thread + done.comments
  const resumedAt = found === null ? 0 : doneOf(found)
  let soFar = resumedAt
  let shown = 0
  try {
    const end = await importAccount({
      account,
      surveyed,
      desk: to === null ? rehearsal : service(clientOf(to.target, { retries: { limit: 12 } }), stop),
      progress: found,
      of,
      rejects,
      async onProgress(progress, listed) {
        soFar = doneOf(progress)
        if (to !== null) await saveAccountProgress(progressPath, progress)
        screen.line('')
        for (const { kind, id, outcome, reason } of listed.slice(0, Math.max(0, shownLines - shown)))
          screen.write(`${kind} ${plain(id)} ${outcome}: ${plain(lineOf(reason, 160))}\n`)
        if (shown < shownLines && shown + listed.length > shownLines)
          screen.write('further records are not shown\n')
        shown += listed.length
        screen.line(`${barOf(soFar, total)}  ${count(soFar)} of ${count(total)} records`)
      },
    })
    if (to !== null) await removeAccountProgress(progressPath)
    return { end, resumedAt }
  } catch (error) {
    const state = `${count(soFar)} of ${count(total)} records done; run the same command again to go on`
    if (stop.aborted) throw new CommandFailure(`interrupted: ${state}`, exitCodes.interrupted)
    screen.line('')
    printError(`deskwire: ${state}\n`)
    throw error
  } finally {
    screen.line('')
  }
}

/** What is in the other helpdesk. */
function readOf(
  account: Account,
  { records }: Surveyed,
  { counts }: AccountProgress,
): Readonly<Record<string, number>> {
  const { agent, customer, thread } = account.words
  return {
    [`${agent}s`]: account.agents().length,
    [`${customer}s`]: account.customers(),
    [`${thread}s`]: records.thread,
    comments: counts.comments,
  }
}

function summary(
  source: Source,
  read: Readonly<Record<string, number>>,
  { counts, listed }: AccountProgress,
  isDry: boolean,
  seconds: number,
): string {
  const there = Object.entries(read).map(([what, number]) => `${count(number)} ${what}`)
  const rows = Object.entries(counts.rows).map(([kind, { created, present, refused }]) => [
    `${kind}s`,
    ...[created, present, refused].map(count),
  ])
  const made = isDry ? 'would be created' : 'created'
  const records = counts.listed['left out'] + counts.listed.refused + counts.listed.changed
  const where =
    listed === null
      ? ''
      : `${count(records)} records are listed in ${listed.path}, each with its id and the reason: ${count(counts.listed.refused)} refused, ${count(counts.listed['left out'])} left out, ${count(counts.listed.changed)} changed\n`
  return `${source.title}: ${there.join(', ')}
${table([['Deskwire', made, 'there before', 'not taken'], ...rows])}${where}${isDry ? 'nothing was sent' : 'done'} in ${seconds.toFixed(1)} s
`
}

const scopes = [
  'import',
  ...['teammates:read', 'teammates:write', 'customers:read', 'customers:write'],
  ...['conversations:read', 'conversations:write', 'messages:write', 'notes:read', 'notes:write'],
]

function scopesOf({ hasTickets }: Source): readonly string[] {
  return hasTickets ? [...scopes, 'tickets:write'] : scopes
}

/** A list in lines of six. */
function lines(words: readonly string[]): string {
  return words.map((word, n) => `${n === 0 ? '' : n % 6 === 0 ? ',\n' : ', '}${word}`).join('')
}

/** Which organization the key is of. @throws UsageError where the key may not do all that an account needs */
async function organizationOf(source: Source, target: Target, signal: AbortSignal): Promise<string> {
  const { url, organization, key } = await whoIs(target, { signal })
  const lacking = key.scopes.includes('*')
    ? []
    : scopesOf(source).filter((scope) => !key.scopes.includes(scope))
  if (lacking.length === 0) return `${url} ${organization.id}`
  throw new UsageError(`the key ${key.name} lacks scopes that this needs: ${lacking.join(', ')}`)
}

export const importZendesk = commandOf({
  name: 'zendesk',
  title: 'Zendesk',
  holds: 'people, conversations, messages, notes and tickets',
  hasTickets: true,
  files: `FILE is JSON or lines of JSON: the JSON export of an account, or pages of the API: users, tickets with comments or audits, or tickets
and ticket events with include=comment_events; also organizations, groups and ticket fields.`,
  url: 'https://example.zendesk.com',
  variables: 'ZENDESK_EMAIL and ZENDESK_API_TOKEN, or ZENDESK_OAUTH_TOKEN, of an administrator',
  states: `Status hold becomes on_hold, and solved resolved. Tickets without a priority are normal; without a subject they have the first
line of their description.`,
  account: zendesk,
  api: (origin) => zendeskApi(origin, process.env),
})

export const importIntercom = commandOf({
  name: 'intercom',
  title: 'Intercom',
  holds: 'people, conversations, messages and notes',
  hasTickets: false,
  files: `FILE is JSON or lines of JSON, answers of the API: admins, contacts, conversations as GET /conversations/{id} has them; also companies
and tags.`,
  url: 'https://api.intercom.io',
  variables: 'INTERCOM_TOKEN',
  states: 'Closed conversations are resolved, others open.',
  account: intercom,
  api: (origin) => intercomApi(origin, process.env),
})
