import type {
  AnyRow,
  Change,
  Client,
  DeskwireError,
  FollowOptions,
  SyncPage,
  SyncParams,
} from '@deskwire/sdk'
import type { Kind } from '@deskwire/service/kinds'
import { clientFlags, clientHelp, clientOf, requireTarget } from '../client.ts'
import type { Command } from '../command.ts'
import { CommandFailure } from '../failure.ts'
import { parseFlags } from '../flags.ts'
import { kindNamed, plurals, recordOf } from '../kinds.ts'
import { inWords } from '../listen/lines.ts'
import { plain, printError } from '../terminal.ts'
import { Output, stopSignal } from '../until-stopped.ts'
import { UsageError } from '../usage-error.ts'

/** Later than every stamp, and so read as the last one (specification 7.2). */
const now = '9999-12-31T23:59:59.999Z'
const beginning = '1970-01-01T00:00:00.000Z'

/** More than one kind can be asked for. */
type Page = SyncPage<AnyRow, unknown>

export const tailCommand: Command = {
  help: () => `deskwire tail [KIND …]: print what is created, changed and removed, in order, as it happens.

  KIND                   one or more of ${plurals.join(', ')}; default: all that the key reads
  --from-start           everything first: each row, and then what is new
  --since TIME           first what has changed after that time, for example 2026-01-31T09:30:00Z
  --cursor CURSOR        go on where an earlier tail of the same kinds stopped
  --once                 stop when there is nothing new
  --json                 one JSON object a line: rows as the API serves them, removals as {"object":"removed",…}
${clientHelp}
A row that has changed several times since the place where it begins is printed once, as it is now. When the service does not
answer, the command says so on standard error and waits: it leaves nothing out. The last line of --json, when it is stopped, is
{"object":"tail_end","nextCursor":…}; without --json the cursor is on standard error.

Exit codes: 0 when it was stopped, has caught up with --once, or nobody reads its output any more; 1 when the service refuses the
key or the cursor; 2 for a wrong command line.

Examples:
  deskwire tail --url http://127.0.0.1:8080/v1 --key dwk_…
  deskwire tail tickets conversations --since 2026-01-31T09:30:00Z --once
  deskwire tail tickets --json | jq -r 'select(.status == "new") | .subject'
`,
  words: () => plurals,
  async run(args) {
    const { texts, switches, words } = parseFlags(args, {
      texts: ['since', 'cursor', ...clientFlags],
      switches: ['from-start', 'once', 'json'],
      words: plurals.length,
    })
    const kinds = [...new Set(words)].map(kindNamed)
    const start = startOf({ since: texts.since, cursor: texts.cursor, fromStart: switches['from-start'] })
    const client = clientOf(requireTarget('tail', texts))
    const isWanted = await wanted(client, kinds)
    const output = new Output()
    const signal = AbortSignal.any([stopSignal(), output.closed])
    const line = switches.json ? jsonLine : humanLine
    let cursor = texts.cursor
    try {
      for await (const page of pagesOf(client, kinds, start, { signal, ...reported() })) {
        for (const change of page.changes) if (isWanted(change)) await output.write(line(change))
        cursor = page.cursor
        if (switches.once && !page.hasMore) break
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
    if (switches.json)
      await output.write(`${JSON.stringify({ object: 'tail_end', nextCursor: cursor ?? null })}\n`)
    else if (cursor !== undefined && !output.closed.aborted)
      printError(`to go on from here: --cursor ${plain(cursor)}\n`)
  },
}

function startOf(given: {
  since: string | undefined
  cursor: string | undefined
  fromStart: boolean | undefined
}): SyncParams {
  const { since, cursor, fromStart } = given
  if ([since, cursor, fromStart].filter((one) => one !== undefined).length > 1)
    throw new UsageError('--from-start, --since and --cursor do not go together: it begins in one place')
  return cursor === undefined ? { updatedAfter: since ?? (fromStart ? beginning : now) } : { cursor }
}

/** A kind alone has a stream of its own, for which no other wakes the reader. */
function pagesOf(
  client: Client,
  kinds: readonly Kind[],
  start: SyncParams,
  options: FollowOptions,
): AsyncIterable<Page> {
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1) return client.changes.follow(start, options)
  return client[kind.plural as 'customers'].follow(start, options)
}

/**
 * Whether a change of the pages is one of these kinds. The stream of all kinds leaves out those that the key may not
 * read.
 * @throws CommandFailure where one of them is asked for.
 */
async function wanted(client: Client, kinds: readonly Kind[]): Promise<(change: Change<AnyRow>) => boolean> {
  if (kinds.length < 2) return () => true
  for await (const { checkpoint } of client.changes.sync({ updatedAfter: now, limit: 1 })) {
    const missing = kinds.filter(({ name }) => checkpoint !== undefined && !(name in checkpoint))
    if (missing.length > 0)
      throw new CommandFailure(`the key may not read ${missing.map(({ plural }) => plural).join(', ')}`)
  }
  const names = new Set<string>(kinds.map(({ name }) => name))
  return (change) => names.has(change.type === 'upsert' ? change.row.object : change.resource)
}

/** Failures that are waited out, said when they begin and when they end. */
function reported(): Pick<FollowOptions, 'onFailure'> {
  return {
    onFailure: (error: DeskwireError, pauseMs) => {
      const why = error.status === 0 ? error.detail : error.message
      printError(`${plain(why)} Trying again in ${(pauseMs / 1_000).toFixed(1)} s.\n`)
    },
  }
}

function jsonLine(change: Change<AnyRow>): string {
  return `${JSON.stringify(recordOf(change))}\n`
}

/** `… written  ticket … "The engine halts" new`: of a row it cannot be told whether it is new or was changed. */
function humanLine(change: Change<AnyRow>): string {
  const line =
    change.type === 'removed'
      ? `${change.removedAt}  removed  ${change.resource} ${change.id}`
      : `${change.row.updatedAt}  written  ${inWords(change.row)}`
  return `${plain(line)}\n`
}
