import { setTimeout } from 'node:timers/promises'
import type { MirrorOptions, QuarantinedRow, Selection } from '@deskwire/mirror'
import { clientFlags, clientHelp, clientOf, requireTarget } from '../client.ts'
import type { Command } from '../command.ts'
import { CommandFailure, exitCodes } from '../failure.ts'
import { parseFlags } from '../flags.ts'
import { rowsText } from '../import/show.ts'
import { readMetricsAddress, serveMetrics } from '../mirror/metrics.ts'
import { copyHelp, explained, hashKey, type Place, readPlace } from '../mirror/place.ts'
import { AfterFailed, exportNext, readEvery, runAfter } from '../mirror/series.ts'
import { batchText, createLoadBar, quarantineText, troubleText } from '../mirror/show.ts'
import { plain, printError, printOut, screen } from '../terminal.ts'
import { stopSignal } from '../until-stopped.ts'
import { UsageError } from '../usage-error.ts'

/** Milliseconds until what failed is tried again, however long `--every` is. */
const longestPause = 60_000

export const mirrorCommand: Command = {
  help: () => `deskwire mirror run --to PLACE: keep a copy of everything that the key reads exactly equal to the service, or write an export.

${copyHelp('; ndjson:DIR or parquet:DIR for an export of one moment')}  --kinds LIST           keep these tables alone: customers,tickets; default: all that the key may read
  --exclude LIST         leave out these fields: tickets.notes,messages.body
  --hash LIST            keep the HMAC-SHA-256 of these fields under DESKWIRE_HASH_KEY: customers.email
  --no-body              leave out the row's text, _body
  --removals WHAT        delete removed rows, or mark them with removed_at: delete (default) or mark; fixed when a copy begins
  --history              keep each version of a row too, in further tables: customers_history, with valid_from and valid_to; versions
                         of removed rows are deleted, or stay with --removals mark
  --adopt                take over tables of these names that no mirror made, if their columns fit; their rows are replaced
  --strings              in Parquet: ids and JSON as strings, for readers without these types (polars, Spark, BigQuery)
  --once                 bring the copy up to date, and end; otherwise it follows
  --every TIME           do that again after this time, such as 1h, and leave the file closed meanwhile; each export in a directory of its own
  --after COMMAND        with --once, --every or an export: run this in a shell after each success; DESKWIRE_MIRROR is the place
  --metrics [HOST:]PORT  serve the state of the copy to Prometheus at /metrics; default host: 127.0.0.1
  --json                 one JSON object a line: up_to_date, each batch, quarantined
${clientHelp}
Other fields never reach the place. A selection is fixed when a copy begins. Rows that are kept in part are proved by ids and versions
after each page; deskwire mirror verify fetches them, and compares what is kept.

Each page and its place in the stream are one transaction: killed at any instant, it goes on where it was when it is run again.
It compares its rows with the service's checkpoint whenever it has caught up, and at the start with the number of rows in
the tables; deskwire mirror verify compares everything. A table a kind, a column a field; the row's text as it was served is in _body.
It changes no table and no file that it did not make: where one has a name that it needs, it refuses. A row that the store cannot
hold is quarantined, and reported. It waits for a service or database that does not answer or refuses, and tries again. After a restore of the service a new
copy is built next to the old one, and replaces it when it is whole.

With --every an export is DIR/2026-01-31T09-30-00-000Z, and the link DIR/latest changes to it when it is whole; the one before it
stays. Modes of files follow DIR. A failure that may pass is reported, and tried again within a minute.

SQLite needs nothing else; PostgreSQL needs the packages pg and pg-copy-streams, DuckDB and Parquet @duckdb/node-api.

Exit codes: 0 when it was stopped, or has finished; 3 when it has finished and rows are quarantined; 1 when the service refuses the
key, or the place holds something else; 2 for a wrong command line; 130 when an export or --once was stopped: run it again.

Examples:
  deskwire mirror run --to postgres://desk@db.internal/warehouse --url https://desk.example/v1 --key dwk_…
  deskwire mirror run --to copy.duckdb --once
  deskwire mirror run --to parquet:./export
  deskwire mirror run --to parquet:./export --every 1h --after 'rclone copy "$DESKWIRE_MIRROR" lake:desk'
`,
  async run(args) {
    const { texts, switches } = parseFlags(args, {
      texts: [
        'to',
        'schema',
        'removals',
        'metrics',
        'kinds',
        'exclude',
        'hash',
        'every',
        'after',
        ...clientFlags,
      ],
      switches: ['once', 'json', 'adopt', 'no-body', 'strings', 'history'],
    })
    const place = readPlace('mirror', texts)
    const { removals } = texts
    if (removals !== undefined && removals !== 'delete' && removals !== 'mark')
      throw new UsageError(
        `--removals: ${JSON.stringify(removals)} is not accepted; there are delete and mark`,
      )
    if (place.type === 'export' && texts.removals !== undefined)
      throw new UsageError('--removals goes with a copy: an export has what exists alone')
    if (place.type === 'export' && switches.history)
      throw new UsageError('--history goes with a copy: an export is of one moment')
    if (place.type === 'export' && switches.adopt)
      throw new UsageError('--adopt goes with a copy: an export replaces no tables')
    if (place.type === 'export' && texts.metrics !== undefined)
      throw new UsageError('--metrics goes with a copy: an export ends')
    if (switches.strings && !(place.type === 'export' && place.form === 'parquet'))
      throw new UsageError('--strings goes with parquet:DIR alone')
    const every = texts.every === undefined ? undefined : readEvery(texts.every)
    const { after } = texts
    const ends = place.type === 'export' || switches.once === true || every !== undefined
    if (every !== undefined && (switches.once || texts.metrics !== undefined))
      throw new UsageError(
        '--every goes without --once and --metrics: deskwire mirror status shows the state',
      )
    if (after !== undefined && !ends)
      throw new UsageError('--after goes with --once, --every or an export: a mirror that follows has no end')
    const metrics = texts.metrics === undefined ? undefined : readMetricsAddress(texts.metrics)
    const lists = (['kinds', 'exclude', 'hash'] as const).flatMap((name) => {
      const items = texts[name]
        ?.split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '')
      if (items?.length === 0) throw new UsageError(`--${name} needs names, with commas between them`)
      return items ? [[name, items]] : []
    })
    const select: Selection = { ...Object.fromEntries(lists), ...(switches['no-body'] && { body: false }) }
    // A copy that was begun goes on as it was begun.
    const isSelected = Object.keys(select).length > 0
    const chosen = { ...(isSelected && { select }), hashKey: hashKey() }
    const client = clientOf(requireTarget('mirror', texts))
    const signal = stopSignal()
    const bar = createLoadBar(screen, () => performance.now())
    let loaded = 0
    const tell = (record: object, text: string) => {
      bar.end()
      printOut(switches.json ? `${JSON.stringify(record)}\n` : `${text}\n`)
    }
    const callbacks = {
      onLoaded: (progress) => {
        loaded = progress.rows
        bar.update(progress)
      },
      onTrouble: (trouble) => {
        bar.end()
        printError(`${plain(troubleText(trouble))}\n`)
      },
    } satisfies Partial<MirrorOptions>
    const writeExport = async (to: Place & { type: 'export' }) => {
      const options = { client, signal, ...chosen, ...callbacks, strings: switches.strings === true }
      const next =
        every === undefined
          ? undefined
          : await exportNext(to.directory, new Date(), (places) => to.write({ ...options, ...places }))
      const manifest = next?.manifest ?? (await to.write(options))
      const rows = Object.values(manifest.checkpoint).reduce((sum, { count }) => sum + count, 0)
      tell(
        { to: to.name, ...(next && { directory: next.directory }), ...manifest },
        `${rowsText(rows)} in ${next?.directory ?? to.name}, proved; manifest.json says as of where`,
      )
      const lacking = manifest.quarantined ?? []
      if (lacking.length > 0) {
        printError(quarantineText(lacking))
        if (every === undefined) process.exitCode = exitCodes.found
      }
      return next?.directory ?? to.directory
    }
    const bringUpToDate = async (to: Place & { type: 'copy' }) => {
      const { Mirror, statusOf } = await import('@deskwire/mirror')
      const store = await to.store()
      let isTold = false
      let quarantined: readonly QuarantinedRow[] = []
      const mirror = new Mirror({
        client,
        store,
        // A copy that was begun goes on as it was begun, unless it is told otherwise.
        ...(removals && { removals }),
        adopts: switches.adopt === true,
        history: switches.history,
        ...chosen,
        ...callbacks,
        onChanges: (page) => tell({ type: 'batch', ...page }, batchText(page)),
        onCaughtUp: () => {
          const sentence = `${loaded === 0 ? '' : `${rowsText(loaded)} loaded; `}the copy in ${to.name} is up to date; deskwire mirror verify compares what it holds`
          if (!isTold) tell({ type: 'up_to_date', to: to.name, loaded }, sentence)
          isTold = true
        },
      })
      const served = metrics && (await serveMetrics(metrics, () => statusOf(store)))
      if (served) printError(`Metrics: ${served.url}\n`)
      try {
        if (!ends) await mirror.follow({ signal })
        await mirror.catchUp({ signal })
        quarantined = await mirror.quarantined()
      } finally {
        await served?.[Symbol.asyncDispose]()
        await mirror.close()
      }
      if (quarantined.length > 0) {
        tell({ type: 'quarantined', rows: quarantined }, quarantineText(quarantined).trimEnd())
        if (every === undefined) process.exitCode = exitCodes.found
      }
      return texts.to ?? ''
    }
    const { passes } = await import('@deskwire/mirror')
    try {
      for (;;) {
        loaded = 0
        let failed: Error | undefined
        const began = performance.now()
        try {
          const written = await (place.type === 'export' ? writeExport(place) : bringUpToDate(place))
          if (after !== undefined) await runAfter(after, written, signal)
        } catch (error) {
          const mayPass = error instanceof AfterFailed || (error instanceof Error && passes(error))
          if (every === undefined || signal.aborted || !mayPass) throw error
          failed = error
        }
        if (every === undefined) break
        const pauseMs = failed
          ? Math.min(every, longestPause)
          : Math.max(0, began + every - performance.now())
        if (failed) callbacks.onTrouble({ type: 'unavailable', error: failed, pauseMs })
        await setTimeout(pauseMs, undefined, { signal })
      }
    } catch (error) {
      if (!signal.aborted) throw await explained(error, place)
      if (ends && every === undefined)
        throw new CommandFailure('interrupted: run it again to go on', exitCodes.interrupted)
    } finally {
      bar.end()
    }
  },
}
